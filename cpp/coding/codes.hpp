// codes.hpp - small numbers for facts, so that counting is array access.
//
// Every fact type numbers its facts: a code stands for a value. Where the values of an
// attribute lie in a small box, codes are arithmetic: a vector is read as a number in mixed
// radix, wide enough that the code of a difference is the difference of codes. Elsewhere,
// values get codes as they are met. Codes never influence a decision; they may be renumbered
// (a box grows, forgotten values are dropped), and whoever stores them is told (Recoding).
#pragma once

#include <cstdint>
#include <vector>

#include "coding/box.hpp"
#include "coding/interner.hpp"
#include "core/facts.hpp"

namespace treethink {

/// New codes for the facts of one type; no_code: forgotten.
struct Recoding {
    std::size_t type;
    std::vector<Code> new_code;  // by old code
};

/// How often each fact of a type holds in the state, for any objects.
struct Truth {
    std::vector<std::uint32_t> counts;  // groundings, by code
    std::vector<std::uint64_t> bits;    // counts > 0
    std::uint64_t version = 0;          // changes when bits change
};

/// Codes of the facts of the state being observed; follows a state to the next one.
class Codes {
public:
    explicit Codes(std::shared_ptr<Schema const> schema);

    [[nodiscard]] std::vector<FactType> const& types() const { return types_; }

    /// Turns to `state`; what did not change is kept. Returns what had to be renumbered.
    /// Throws StateError, changing nothing, when a difference would not fit 64 bits.
    std::vector<Recoding> turn_to(State const& state);
    /// Makes room for a fact that is known by its value only (from a file). Recodes as above.
    std::vector<Recoding> admit(std::size_t type, VectorView value);
    /// Whether so many values have been met that forgetting unused ones is worth while; `collect` does it.
    [[nodiscard]] bool crowded(std::size_t type) const {
        return !arithmetic(type) && interners_[type].size() > crowd_[type];
    }
    Recoding collect(std::size_t type, std::vector<bool> used);

    /// All codes of the type are below this.
    [[nodiscard]] Code size(std::size_t type) const {
        if (!arithmetic(type)) return interners_[type].size();
        return types_[type].arity == 1 ? box(type).width() : box(type).table_size();
    }
    [[nodiscard]] Vector value(std::size_t type, Code code) const;
    [[nodiscard]] Code find(std::size_t type, VectorView value) const;

    /// Objects of a slot's class in the state.
    [[nodiscard]] std::size_t rows(SlotId slot) const { return views_[slot].column->rows(); }
    /// Codes are sums of value codes: a pair's is codes(y)[j] - codes(x)[i] + centre.
    [[nodiscard]] bool arithmetic(std::size_t type) const { return types_[type].linear && box(type).dense(); }
    [[nodiscard]] Code const* codes(SlotId slot) const { return views_[slot].codes.data(); }
    [[nodiscard]] Code centre(std::size_t type) const { return box(type).centre(); }
    /// Whether no two objects of the slot's class share a value (only known for arithmetic codes).
    [[nodiscard]] bool distinct(SlotId slot) const { return views_[slot].distinct; }

    /// Code of the fact about one object, or an ordered pair.
    [[nodiscard]] Code code(std::size_t type, Row x) {
        View const& view = views_[types_[type].slots[0]];
        return arithmetic(type) ? view.codes[x] : intern_pair(type, view.column->row(x), {}, false);
    }
    [[nodiscard]] Code code(std::size_t type, Row x, Row y) {
        View const& xs = views_[types_[type].slots[0]];
        View const& ys = views_[types_[type].slots[1]];
        if (arithmetic(type)) return ys.codes[y] - xs.codes[x] + centre(type);
        return intern_pair(type, xs.column->row(x), ys.column->row(y), false);
    }
    /// Within a class: the code for the pair in the order that makes its value the larger one.
    [[nodiscard]] Code unordered_code(std::size_t type, Row x, Row y) {
        View const& view = views_[types_[type].slots[0]];
        if (!arithmetic(type)) return intern_pair(type, view.column->row(x), view.column->row(y), true);
        // Codes sort like values, so the larger difference is the one with the larger code.
        Code const a = view.codes[x], b = view.codes[y];
        return (a > b ? a - b : b - a) + centre(type);
    }

    /// Brought up to date at the first call after a change.
    [[nodiscard]] Truth const& truth(std::size_t type) {
        if (tables_[type].turn != turn_) bring_up_to_date(type);
        return tables_[type].truth;
    }

    [[nodiscard]] std::size_t bytes() const;

private:
    struct View {
        State::ColumnPtr column;
        std::vector<Code> codes;  // when the box is dense
        bool distinct = false;
        bool used = false;    // by any fact type
        bool paired = false;  // by one about two objects
        std::uint64_t stamp = 0;
    };
    // What a truth was computed from: the values (or codes) per argument, mended row by row.
    struct Side {
        std::vector<Code> codes;
        Vector values;
        std::uint64_t stamp = 0;
    };
    struct Table {
        Truth truth;
        std::array<Side, 2> sides;
        bool built = false;
        std::uint64_t turn = 0;  // when it was last known to be up to date
    };

    [[nodiscard]] Box const& box(std::size_t type) const { return boxes_[types_[type].attribute]; }
    [[nodiscard]] bool outgrows(SlotId slot, Column const& column) const;
    void check_range(State const& state, AttributeId attribute) const;
    void encode(SlotId slot);
    void grow(AttributeId attribute, std::vector<Recoding>& recodings);
    void rebox(AttributeId attribute, Box box, std::vector<Recoding>& recodings);
    [[nodiscard]] Code intern_pair(std::size_t type, VectorView x, VectorView y, bool unordered);
    void bring_up_to_date(std::size_t type);
    void rebuild(std::size_t type);
    void count_all(std::size_t type);
    void intern_all(std::size_t type);
    bool tally_differences(std::size_t type);
    bool mend(std::size_t type);
    void change(Truth& truth, Code code, int by);
    template <class Visit>
    void each_code(std::size_t type, std::size_t which, Row row, Visit&& visit);
    [[nodiscard]] Code side_code(std::size_t type, Row x, Row y);

    std::shared_ptr<Schema const> schema_;
    std::vector<FactType> types_;
    std::vector<Box> boxes_;           // by attribute
    std::vector<Interner> interners_;  // by type; used where codes are not arithmetic
    std::vector<Code> crowd_;          // by type: size that makes collecting worth while
    std::vector<View> views_;          // by slot
    std::vector<SlotId> changed_;      // in this turn
    std::vector<Table> tables_;        // by type
    std::uint64_t turn_ = 1, stamp_ = 0, version_ = 0;
    std::vector<std::uint32_t> mark_;
    std::uint32_t epoch_ = 0;
};

}  // namespace treethink
