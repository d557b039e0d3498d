// facts.hpp - what is true of a state, said as `kind(objects) = value`.
//
// A kind of fact (equality, difference, ...) computes a value from the attribute of one
// or two objects. A fact type is a kind for given classes and a given attribute. Kinds are
// an open set: a new one is a class derived from FactKind and one registration.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.hpp"

namespace treethink {

/// Position of an object among the objects of its class.
using Row = std::uint32_t;

/// A way to compute a value from one attribute of one object (arity 1) or two (arity 2).
class FactKind {
public:
    virtual ~FactKind() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::size_t arity() const = 0;
    /// Length of the fact's value for an attribute of the given length.
    [[nodiscard]] virtual std::size_t value_length(std::size_t attribute_length) const { return attribute_length; }

    /// Writes the value for argument values `x` (and `y`); false when it does not fit 64 bits.
    [[nodiscard]] virtual bool value(VectorView x, VectorView y, Int* out) const = 0;
    /// Turns the value for (x, y) into the value for (y, x). Arity 2 only.
    virtual void swap(Int* value, std::size_t length) const;

    /// Finds the only value that argument `which` can have, given the other one's and the
    /// fact's value; false when there is none. Called only when `solvable()`.
    [[nodiscard]] virtual bool solve(std::size_t which, VectorView other, VectorView value, Int* out) const;
    [[nodiscard]] virtual bool solvable() const { return false; }
    /// Whether the value is x (arity 1) or y - x (arity 2), so that value codes add up (see box.hpp).
    [[nodiscard]] virtual bool linear() const { return false; }
    /// Whether a test of this kind names a place rather than a relation: it then costs more
    /// when tests are equally good, for attributes that are vectors.
    [[nodiscard]] virtual bool absolute() const { return false; }

    /// The formula, with the arguments and the value already written out.
    [[nodiscard]] virtual std::string text(std::string const& x, std::string const& y,
                                           std::string const& value) const = 0;
};

/// All kinds: equality, difference, then those registered, in order of registration.
std::vector<std::unique_ptr<FactKind const>> const& fact_kinds();

/// A static object of this type, in the file that defines a kind, makes the kind known.
struct FactKindRegistration {
    explicit FactKindRegistration(std::unique_ptr<FactKind const> kind);
};

/// A kind of fact about one attribute of objects of given classes.
struct FactType {
    FactKind const* kind;
    AttributeId attribute;
    std::size_t arity;
    std::array<ClassId, 2> classes;  // ascending; the second only for arity 2
    std::array<SlotId, 2> slots;
    std::size_t value_length;
    bool linear;  // kind->linear(), asked for very often

    [[nodiscard]] bool same_class() const { return arity == 2 && classes[0] == classes[1]; }
};

/// Every fact type of a schema: by kind, then attribute, then classes.
std::vector<FactType> fact_types(Schema const& schema);

/// Room for a short vector without an allocation.
class Buffer {
public:
    explicit Buffer(std::size_t length) : length_(length) {
        if (length > small_.size()) large_.resize(length);
    }
    [[nodiscard]] Int* data() { return large_.empty() ? small_.data() : large_.data(); }
    [[nodiscard]] VectorView view() { return {data(), length_}; }

private:
    std::size_t length_;
    std::array<Int, 8> small_{};
    std::vector<Int> large_;
};

/// Exact sums and differences; false when the result does not fit.
[[nodiscard]] bool add(Int a, Int b, Int& out);
[[nodiscard]] bool subtract(Int a, Int b, Int& out);
[[nodiscard]] bool same(VectorView a, VectorView b);
/// Lexicographic.
[[nodiscard]] bool less(VectorView a, VectorView b);

/// Which arguments of a fact are given: a row, or `any`.
using Arguments = std::array<Row, 2>;
inline constexpr Row any_row = ~Row{0};

/// The facts of one state, found when asked for (the paper's on-demand queries).
class FactsOnDemand {
public:
    explicit FactsOnDemand(State const& state) : state_(state) {}

    [[nodiscard]] State const& state() const { return state_; }

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
        Buffer found(type.value_length);
        auto check = [&](Row row) {
            return !type.kind->value(column.row(row), {}, found.data()) || !same(found.view(), value) ||
                   visit(row, any_row);
        };
        if (x != any_row) {
            check(x);
        } else if (type.kind->solvable()) {
            Buffer wanted(column.length());
            if (type.kind->solve(0, {}, value, wanted.data()))
                column.for_each_row_with(wanted.view(), [&](Row row) { return visit(row, any_row); });
        } else {
            for (Row row = 0; row < column.rows(); ++row)
                if (!check(row)) return;
        }
    }

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
        Buffer found(type.value_length);
        VectorView const x = state_.value(type.slots[0], rows[0]);
        VectorView const y = state_.value(type.slots[1], rows[1]);
        if (!type.kind->value(x, y, found.data()) || !same(found.view(), value)) return true;
        return visit(rows[0], rows[1]);
    }

    // All groundings in which argument `which` is `row`; false when a visit asked to stop.
    template <class Visit>
    bool partners(FactType const& type, VectorView value, std::size_t which, Row row, Visit& visit) const {
        std::size_t const other = 1 - which;
        Column const& column = *state_.column(type.slots[other]);
        auto pair = [&](Row partner) { return which == 0 ? Arguments{row, partner} : Arguments{partner, row}; };
        bool go_on = true;
        if (type.kind->solvable()) {
            Buffer wanted(column.length());
            if (!type.kind->solve(other, state_.value(type.slots[which], row), value, wanted.data())) return true;
            column.for_each_row_with(wanted.view(), [&](Row partner) {
                if (type.same_class() && partner == row) return true;
                Arguments const rows = pair(partner);
                return go_on = visit(rows[0], rows[1]);
            });
        } else {
            for (Row partner = 0; go_on && partner < column.rows(); ++partner)
                go_on = check_pair(type, value, pair(partner), visit);
        }
        return go_on;
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
        for (Arguments const rows : stored(type, value)) {
            bool const agrees =
                (given[0] == any_row || given[0] == rows[0]) && (given[1] == any_row || given[1] == rows[1]);
            if (agrees && !visit(rows[0], rows[1])) return;
        }
    }

private:
    struct VectorHash {
        std::size_t operator()(Vector const& v) const;
    };
    using Stored = std::unordered_map<Vector, std::vector<Arguments>, VectorHash>;

    void extract(FactType const& type, Stored& stored) const;
    [[nodiscard]] std::vector<Arguments> const& stored(FactType const& type, VectorView value) const;

    State const& state_;
    FactType const* first_;
    std::vector<Stored> stored_;  // by position of the type
};

}  // namespace treethink
