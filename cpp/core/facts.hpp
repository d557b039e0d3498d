// facts.hpp - what is true of a state, in the form `kind(objects) = value`.
//
// A kind of fact (equality, difference, ...) computes a value from one or two attribute values, its
// terms. A fact type is a kind for given classes and attributes; its two terms belong to two objects, or to
// one object that has two attributes of the same unit. Kinds are an open set: a new one is a class
// derived from FactKind and one registration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/state.hpp"

namespace treethink {

/// A way to compute a value from one term or two.
class FactKind {
public:
    virtual ~FactKind() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Number of terms, 1 or 2.
    [[nodiscard]] virtual std::size_t terms() const = 0;
    /// Length of the fact's value for an attribute of the given length.
    [[nodiscard]] virtual std::size_t value_length(std::size_t attribute_length) const { return attribute_length; }

    /// Writes the value for terms `x` (and `y`); false when there is none, or it does not fit 64 bits.
    [[nodiscard]] virtual bool value(VectorView x, VectorView y, Int* out) const = 0;
    /// Whether any terms have this value.
    [[nodiscard]] virtual bool possible(VectorView) const { return true; }
    /// Whether attributes like this one can take part. Symbolic ones can if of_symbols() is of use.
    [[nodiscard]] virtual bool fits(Attribute const&) const { return true; }
    /// Whether nodes count the tests of this kind at every visit. Those of other kinds are found in a second look at
    /// what is kept (looks/second_look.hpp): counting them would cost more than they are worth.
    [[nodiscard]] virtual bool counted() const { return true; }
    /// Whether a fact that holds with a value holds with every larger one too: value() is then the smallest. Not
    /// counted.
    [[nodiscard]] virtual bool cumulative() const { return false; }
    /// Whether facts are about single numbers: about each component of a vector by itself.
    [[nodiscard]] virtual bool of_components() const { return false; }
    /// Whether its second term belongs to any other object, of whatever class, for which no variable stands: a fact
    /// says that there is one. It then has one term of its own, and is not counted.
    [[nodiscard]] virtual bool of_any() const { return false; }
    /// The kind in whose place it stands for attributes whose values are names or bools.
    [[nodiscard]] virtual FactKind const& of_symbols() const { return *this; }
    /// Turns the value for (x, y) into the value for (y, x). Two terms only.
    virtual void swap(Int* value, std::size_t length) const;

    /// Finds the only value that term `which` can have, given the other one's and the
    /// fact's value; false when there is none. Called only when `solvable()`.
    [[nodiscard]] virtual bool solve(std::size_t which, VectorView other, VectorView value, Int* out) const;
    [[nodiscard]] virtual bool solvable() const { return false; }
    /// Whether the value is x (one term) or y - x (two), so that value codes add up (see box.hpp).
    [[nodiscard]] virtual bool linear() const { return false; }
    /// Whether a test of this kind names a place rather than a relation: it then costs more
    /// when tests are equally good, for attributes that are vectors.
    [[nodiscard]] virtual bool absolute() const { return false; }

    /// The formula, with the terms and the value already written out.
    [[nodiscard]] virtual std::string text(std::string const& x, std::string const& y,
                                           std::string const& value) const = 0;
};

/// All kinds: equality, difference, order, threshold, something, then those registered, in order of registration.
std::vector<std::unique_ptr<FactKind const>> const& fact_kinds();

/// A static object of this type, in the file that defines a kind, makes the kind known.
struct FactKindRegistration {
    explicit FactKindRegistration(std::unique_ptr<FactKind const> kind);
};

/// Whether `value` is y - x.
[[nodiscard]] inline bool is_difference(VectorView x, VectorView y, VectorView value) {
    Int difference = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!subtract(y[i], x[i], difference) || difference != value[i]) return false;
    return true;
}

/// A kind of fact about given attributes, of one unit, of objects of given classes.
struct FactType {
    FactKind const* kind;
    AttributeId unit;                         // of both attributes; see Schema::unit. Any other object's, if `of_any`
    std::array<AttributeId, 2> attributes{};  // by term, ascending; the second only for two terms
    std::size_t terms;                        // kind->terms(), without the virtual call
    std::size_t arity;                        // number of objects: 1 for two terms of the same object
    std::array<ClassId, 2> classes{};         // by object; ascending if both terms are of the same attribute
    std::array<SlotId, 2> slots{};            // by term
    std::size_t value_length;
    bool linear;                                           // kind->linear(), without the virtual call
    bool counted;                                          // kind->counted(), likewise
    bool of_any;                                           // kind->of_any(), likewise
    std::optional<std::uint8_t> component = std::nullopt;  // the only one of its terms that it is about

    /// Whether the two objects are of one class: they must be different.
    [[nodiscard]] bool same_class() const { return arity == 2 && classes[0] == classes[1]; }
    /// Whether the two objects can change places: a pair is then one fact, not two.
    [[nodiscard]] bool unordered() const { return arity == 2 && slots[0] == slots[1]; }
    /// Whether it compares two attributes of one object.
    [[nodiscard]] bool within_object() const { return terms > arity; }
    /// Whether the value, and one object if it is about two, say what the other one's term is.
    [[nodiscard]] bool finds_objects() const { return kind->solvable() && !within_object() && !of_any; }
    /// Whether several facts hold of the same objects.
    [[nodiscard]] bool has_many_values() const { return of_any || (!counted && kind->cumulative()); }
    /// kind->value(), without the virtual call where that is easy.
    [[nodiscard]] bool value(VectorView x, VectorView y, Int* out) const {
        if (component) return kind->value(x.subspan(*component, 1), y, out);
        if (!linear || terms == 2) return kind->value(x, y, out);
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i];
        return true;
    }
    /// Whether the fact holds for these terms; `actual` is room for its value. Not of any other object.
    [[nodiscard]] bool holds(VectorView x, VectorView y, VectorView value, Int* actual) const {
        if (linear) return terms == 1 ? same(x, value) : is_difference(x, y, value);
        if (!this->value(x, y, actual)) return false;
        VectorView const smallest(actual, value_length);
        return same(smallest, value) || (!counted && kind->cumulative() && less(smallest, value));
    }
};

/// Calls visit(row of a column) for the values that the second term may have, where `type.of_any` and its object is row
/// `x` of its class: those of all other objects.
template <class Visit>
void each_other(State const& state, FactType const& type, Row x, Visit const& visit) {
    for (SlotId const slot : state.schema()->slots_with(type.unit)) {
        bool const own = state.schema()->column(slot).class_id == type.classes[0];
        Column const& column = *state.column(slot);
        for (Row y = 0; y < column.rows(); ++y)
            if (!own || y != x) visit(column.row(y));
    }
}

/// How many objects have the attribute that any other object's term is of, where `type.of_any`; else 1.
[[nodiscard]] std::size_t count_any(State const& state, FactType const& type);

/// Every fact type of a schema, those that are counted first: by kind, then attributes; those within an object first;
/// then by classes.
std::vector<FactType> fact_types(Schema const& schema);
/// How many of these are counted.
[[nodiscard]] std::size_t counted_types(std::vector<FactType> const& types);

/// The rows of a fact's arguments; `any_row` where an argument is not given.
using Arguments = std::array<Row, 2>;
inline constexpr Row any_row = ~Row{0};

/// The facts of one state, computed on demand (the paper's on-demand queries).
class FactsOnDemand {
public:
    explicit FactsOnDemand(State const& state) : state_(state) {}

    [[nodiscard]] State const& state() const { return state_; }

    /// Whether the fact holds of these objects; of one only if it has one argument.
    [[nodiscard]] bool holds(FactType const& type, VectorView value, Row x, Row y) const {
        if (type.of_any) return holds_of_any(type, value, x);
        if (type.same_class() && x == y) return false;
        Buffer actual(type.value_length);
        VectorView const second = type.terms == 2 ? state_.value(type.slots[1], y) : VectorView{};
        return type.holds(state_.value(type.slots[0], x), second, value, actual.data());
    }

    /// Calls visit(x, y) for all rows that make `type` have `value` and agree with `given`,
    /// until one call returns false. Two arguments are always different objects.
    template <class Visit>
    void groundings(FactType const& type, VectorView value, Arguments given, Visit&& visit) const {
        if (type.arity == 1)
            unary(type, value, given[0], visit);
        else
            binary(type, value, given, visit);
    }

private:
    template <class Visit>
    void unary(FactType const& type, VectorView value, Row x, Visit& visit) const {
        Column const& column = *state_.column(type.slots[0]);
        auto check = [&](Row row) { return !holds(type, value, row, row) || visit(row, any_row); };
        if (x != any_row) {
            check(x);
        } else if (type.finds_objects()) {
            Buffer wanted(column.length());
            if (type.kind->solve(0, {}, value, wanted.data()))
                column.for_each_row_with(wanted.view(), [&](Row row) { return visit(row, any_row); });
        } else {
            for (Row row = 0; row < column.rows(); ++row)
                if (!check(row)) return;
        }
    }

    [[nodiscard]] bool holds_of_any(FactType const& type, VectorView value, Row x) const;

    template <class Visit>
    void binary(FactType const& type, VectorView value, Arguments given, Visit& visit) const {
        Column const& xs = *state_.column(type.slots[0]);
        Column const& ys = *state_.column(type.slots[1]);
        if (given[0] != any_row) {
            if (given[1] != any_row)
                check_pair(type, value, given, visit);
            else
                partners(type, value, 0, given[0], visit);
        } else if (given[1] != any_row) {
            partners(type, value, 1, given[1], visit);
        } else if (xs.rows() <= ys.rows()) {
            for (Row x = 0; x < xs.rows(); ++x)
                if (!partners(type, value, 0, x, visit)) return;
        } else {
            for (Row y = 0; y < ys.rows(); ++y)
                if (!partners(type, value, 1, y, visit)) return;
        }
    }

    template <class Visit>
    bool check_pair(FactType const& type, VectorView value, Arguments rows, Visit& visit) const {
        if (type.same_class() && rows[0] == rows[1]) return true;
        Buffer actual(type.value_length);
        VectorView const x = state_.value(type.slots[0], rows[0]);
        VectorView const y = state_.value(type.slots[1], rows[1]);
        return !type.holds(x, y, value, actual.data()) || visit(rows[0], rows[1]);
    }

    // All groundings in which argument `which` is `row`; false when a visit asked to stop.
    template <class Visit>
    bool partners(FactType const& type, VectorView value, std::size_t which, Row row, Visit& visit) const {
        std::size_t const other = 1 - which;
        Column const& column = *state_.column(type.slots[other]);
        auto pair = [&](Row partner) { return which == 0 ? Arguments{row, partner} : Arguments{partner, row}; };
        bool proceed = true;
        if (type.finds_objects()) {
            Buffer wanted(column.length());
            if (!type.kind->solve(other, state_.value(type.slots[which], row), value, wanted.data())) return true;
            column.for_each_row_with(wanted.view(), [&](Row partner) {
                if (type.same_class() && partner == row) return true;
                Arguments const rows = pair(partner);
                return proceed = visit(rows[0], rows[1]);
            });
        } else {
            for (Row partner = 0; proceed && partner < column.rows(); ++partner)
                proceed = check_pair(type, value, pair(partner), visit);
        }
        return proceed;
    }

    State const& state_;
};

/// Every fact of one state, extracted and stored first (the paper's slow baseline of inference).
class FactsInFull {
public:
    FactsInFull(State const& state, std::vector<FactType> const& types);

    [[nodiscard]] State const& state() const { return state_; }

    template <class Visit>
    void groundings(FactType const& type, VectorView value, Arguments given, Visit&& visit) const {
        if (type.has_many_values()) return FactsOnDemand(state_).groundings(type, value, given, visit);
        for (Arguments const rows : arguments_of(type, value)) {
            bool const agrees =
                (given[0] == any_row || given[0] == rows[0]) && (given[1] == any_row || given[1] == rows[1]);
            if (agrees && !visit(rows[0], rows[1])) return;
        }
    }

private:
    struct VectorHash {
        std::size_t operator()(Vector const& v) const;
    };
    /// The arguments of all facts of one type, by value.
    using FactTable = std::unordered_map<Vector, std::vector<Arguments>, VectorHash>;

    void extract(FactType const& type, FactTable& table) const;
    [[nodiscard]] std::vector<Arguments> const& arguments_of(FactType const& type, VectorView value) const;

    State const& state_;
    FactType const* first_type_;
    std::vector<FactTable> tables_;  // by position of the type in the list that starts at `first_type_`
};

}  // namespace treethink
