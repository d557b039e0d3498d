// truth.hpp - which facts hold in the current state, kept up to date as the state changes.
//
// For each fact type there is a table that counts, by code, the objects (or pairs of objects)
// for which the fact holds. When few rows of a column change, only the facts about those rows are
// counted again; otherwise the table is rebuilt. A table is brought up to date when it is next read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coding/code_set.hpp"
#include "coding/coded_column.hpp"
#include "coding/fact_codes.hpp"

namespace treethink {

/// How often each fact of one type holds in the state, for any objects.
struct Truth {
    std::vector<std::uint32_t> counts;  // by code: objects or pairs for which the fact holds
    CodeSet true_codes;                 // whose counts are above 0
    std::uint64_t version = 0;          // changes whenever `true_codes` do
};

/// The truth of one fact type, and what it was computed from.
struct TruthTable {
    /// The column of one term as it was when `truth` was computed.
    struct Source {
        std::vector<Code> codes;    // by row, where codes are arithmetic
        Vector values;              // otherwise: the values of all rows
        std::uint64_t version = 0;  // of the column
    };

    Truth truth;
    std::array<Source, 2> sources;      // by term; only the first where both are of the same column
    bool built = false;                 // whether `truth` was ever computed
    std::uint64_t checked_in_step = 0;  // step (see TruthTables) in which it was last known to be up to date
};

class TruthTables {
public:
    explicit TruthTables(std::size_t types) : tables_(types) {}

    /// Must be called when a column has changed.
    void state_changed() { ++step_; }
    /// The truth of a type in the state that `columns` (by slot) holds.
    [[nodiscard]] Truth const& up_to_date(std::size_t type, FactCodes& codes, std::span<CodedColumn const> columns) {
        TruthTable const* const table = tables_[type].get();
        if (table == nullptr || table->checked_in_step != step_) update(type, codes, columns);
        return tables_[type]->truth;
    }

    /// Forgets the truth of a type whose arithmetic codes have changed.
    void clear(std::size_t type);
    /// Adds to `used` all codes of facts that hold.
    void mark_true(std::size_t type, std::vector<bool>& used) const;
    /// Renumbers the truth of a type; none of the facts that hold is dropped, and new codes are below `size`.
    void recode(Recoding const& recoding, Code size);

    [[nodiscard]] std::size_t bytes() const;

private:
    void update(std::size_t type, FactCodes& codes, std::span<CodedColumn const> columns);
    [[nodiscard]] TruthTable& table(std::size_t type);

    std::vector<std::unique_ptr<TruthTable>> tables_;  // by type; null: not asked for yet
    std::uint64_t step_ = 1;                           // number of changes of the state
    std::uint64_t version_ = 0;                        // last version that any truth got
};

}  // namespace treethink
