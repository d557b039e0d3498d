// codes.hpp - the facts of the current state as codes: what the learner counts by.
//
// Puts the parts of coding/ together for one state at a time:
//   fact_codes   which code stands for which value
//   columns      the codes of the state's values
//   truth        which facts hold in the state
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "coding/coded_column.hpp"
#include "coding/fact_codes.hpp"
#include "coding/truth.hpp"
#include "core/facts.hpp"

namespace treethink {

/// Codes of the facts of the state being observed; follows a state to the next one.
class Codes {
public:
    explicit Codes(std::shared_ptr<Schema const> schema);

    [[nodiscard]] std::vector<FactType> const& types() const { return fact_codes_.types(); }
    /// Only the first so many types have codes: the others are not counted.
    [[nodiscard]] std::size_t counted_types() const { return fact_codes_.counted_types(); }

    /// Makes `state` the current one; what did not change is kept. Returns what had to be renumbered.
    /// Throws StateError, changing nothing, when a difference would not fit 64 bits. A state that is `replayed` says
    /// nothing about how often values change.
    std::vector<Recoding> set_state(State const& state, bool replayed = false);
    /// Throws StateError if set_state() would; changes nothing. What the state shares with one that was checked before
    /// (null: none) is not checked again.
    void check(State const& state, State const* checked) const;
    /// The code of a fact that is known by its value only (from a file). Only before the first state.
    Code admit(std::size_t type, VectorView value) { return fact_codes_.admit(type, value); }

    /// Whether dropping unused codes is worth its cost; `collect` does it.
    [[nodiscard]] bool crowded(std::size_t type) const { return fact_codes_.crowded(type); }
    /// Drops all codes that are neither in `used` nor those of facts that hold.
    Recoding collect(std::size_t type, std::vector<bool> used);

    // ---- facts by value (see FactCodes) ----
    [[nodiscard]] Code size(std::size_t type) const { return fact_codes_.size(type); }
    [[nodiscard]] Vector value(std::size_t type, Code code) const { return fact_codes_.value(type, code); }
    void read_value(std::size_t type, Code code, Vector& out) const { fact_codes_.read_value(type, code, out); }
    [[nodiscard]] Code find(std::size_t type, VectorView value) const { return fact_codes_.find(type, value); }
    [[nodiscard]] bool arithmetic(std::size_t type) const { return fact_codes_.arithmetic(type); }
    [[nodiscard]] Code centre(std::size_t type) const { return fact_codes_.centre(type); }

    // ---- facts of the current state ----
    /// Number of objects of a slot's class.
    [[nodiscard]] std::size_t rows(SlotId slot) const { return columns_[slot].rows(); }
    /// By row; only where codes are arithmetic.
    [[nodiscard]] Code const* codes(SlotId slot) const { return columns_[slot].codes.data(); }
    /// Whether no two objects of the slot's class share a value; only where codes are arithmetic.
    [[nodiscard]] bool distinct(SlotId slot) const { return columns_[slot].distinct; }
    /// Where some do: codes of the values, each once, and how many objects have each.
    [[nodiscard]] std::span<Code const> values(SlotId slot) const { return columns_[slot].values; }
    [[nodiscard]] std::span<std::uint32_t const> rows_of_values(SlotId slot) const { return columns_[slot].rows_of; }
    /// How many states there were.
    [[nodiscard]] std::uint64_t step() const { return step_; }
    /// The last of them in which values changed.
    [[nodiscard]] std::uint64_t changed_in(SlotId slot) const { return columns_[slot].changed_in; }
    /// Whether the values change seldom, as those of walls do.
    [[nodiscard]] bool is_steady(SlotId slot) const;

    /// Code of the fact about one object.
    [[nodiscard]] Code code(std::size_t type, Row x) {
        if (types()[type].within_object()) return code(type, x, x);
        CodedColumn const& xs = columns_[types()[type].slots[0]];
        return arithmetic(type) ? xs.codes[x] : fact_codes_.intern_fact(type, xs.column->row(x), {});
    }
    /// Code of the fact about an ordered pair.
    [[nodiscard]] Code code(std::size_t type, Row x, Row y) {
        CodedColumn const& xs = columns_[types()[type].slots[0]];
        CodedColumn const& ys = columns_[types()[type].slots[1]];
        if (arithmetic(type)) return ys.codes[y] - xs.codes[x] + centre(type);
        return fact_codes_.intern_fact(type, xs.column->row(x), ys.column->row(y));
    }
    /// For objects that can change places: the code for the pair in the order that makes its value the larger one.
    [[nodiscard]] Code unordered_code(std::size_t type, Row x, Row y) {
        CodedColumn const& column = columns_[types()[type].slots[0]];
        if (!arithmetic(type))
            return fact_codes_.intern_unordered_fact(type, column.column->row(x), column.column->row(y));
        // Codes sort like values, so the larger difference is the one with the larger code.
        Code const a = column.codes[x], b = column.codes[y];
        return (a > b ? a - b : b - a) + centre(type);
    }

    /// Which facts of the type hold.
    [[nodiscard]] Truth const& truth(std::size_t type) { return truth_.up_to_date(type, fact_codes_, columns_); }
    /// For objects that can change places: the facts that hold only for pairs with one object, ascending.
    [[nodiscard]] std::vector<Code> const& only_of(std::size_t type, Row x);

    [[nodiscard]] std::size_t bytes() const;

private:
    /// For a fact type, by row: the facts that hold only for pairs with it.
    struct OnlyOf {
        std::uint64_t column_version = 0, truth_version = 0;  // of which it is
        std::vector<std::vector<Code>> by_row;
        std::vector<bool> is_known;  // by row
        std::size_t asked = 0;       // rows that were not known
    };

    void find_only_of(std::size_t type, Row x, Truth const& truth, std::vector<Code>& only);
    bool find_only_of_all(std::size_t type, Truth const& truth, OnlyOf& known);
    void find_changed_columns(State const& state);
    [[nodiscard]] std::vector<AttributeId> outgrown_units(State const& state) const;
    [[nodiscard]] bool in_box(Column const& column, AttributeId unit) const;
    void check_range(State const& state, AttributeId unit) const;
    /// Throws the StateError about two values, each with its slot, whose difference does not fit 64 bits.
    [[noreturn]] void refuse_range(std::pair<Int, std::size_t> low, std::pair<Int, std::size_t> high) const;
    void grow_box(AttributeId unit, std::vector<Recoding>& recodings);
    void set_box(AttributeId unit, Box box, std::vector<Recoding>& recodings);
    void encode(SlotId slot);
    [[nodiscard]] AttributeId unit_of(std::size_t slot) const {
        return schema_->unit(schema_->column(SlotId(slot)).attribute);
    }

    std::shared_ptr<Schema const> schema_;
    FactCodes fact_codes_;
    std::vector<CodedColumn> columns_;  // by slot
    TruthTables truth_;
    std::uint64_t column_version_ = 0;              // last version that any column got
    std::uint64_t step_ = 0;                        // counts states
    bool replayed_ = false;                         // whether the current one is replayed
    std::vector<std::unique_ptr<OnlyOf>> only_of_;  // by type; null: not asked for yet

    // Working memory, kept between calls.
    std::vector<SlotId> changed_;           // columns in fact types whose values differ from the state before
    std::vector<std::uint32_t> last_seen_;  // by code: last call of encode() that met it
    std::vector<std::uint32_t> place_of_;   // by such a code: place in CodedColumn::values
    std::uint32_t encode_calls_ = 0;
    std::vector<std::uint32_t> tally_;  // by code: pairs with one object; zero between calls
    std::vector<Code> tallied_;         // codes with a tally
};

}  // namespace treethink
