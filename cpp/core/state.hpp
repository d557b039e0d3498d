// state.hpp - what a world looks like at one moment.
//
// A state is a set of objects; an object has an id, a class and one integer vector
// for every attribute of its class. States are immutable values. They are stored by
// column (one attribute of one class, all objects), and columns are shared between
// states, so a changed copy costs what changed, and "did anything move?" is mostly a
// comparison of pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/column.hpp"
#include "core/errors.hpp"
#include "core/schema.hpp"
#include "core/vectors.hpp"

namespace treethink {

/// Position of an object among the objects of its class.
using Row = std::uint32_t;

/// Where an object is in a state: its class, and its row among the objects of that class.
struct Place {
    ClassId class_id;
    Row row;
};

/// Which objects there are: ids by class, ascending. Shared by the states of an episode.
class Roster {
public:
    /// `ids[class]`; sorts each. Throws StateError for an id used twice.
    explicit Roster(std::vector<std::vector<Int>> ids);

    [[nodiscard]] std::size_t size() const { return places_.size(); }
    [[nodiscard]] std::size_t classes() const { return ids_.size(); }
    [[nodiscard]] std::vector<Int> const& ids(ClassId c) const { return ids_[c]; }
    [[nodiscard]] Int id(Place place) const { return ids_[place.class_id][place.row]; }
    [[nodiscard]] std::optional<Place> find(Int id) const;
    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    bool operator==(Roster const& other) const { return ids_ == other.ids_; }

private:
    std::vector<std::vector<Int>> ids_;
    std::unordered_map<Int, Place> places_;
    std::uint64_t hash_;
};

/// A set of objects with their values. A value itself: copied freely, never changed.
class State {
public:
    using ColumnPtr = std::shared_ptr<Column const>;

    /// One object to build a state from; `values` in the order of its class's attributes.
    struct ObjectData {
        Int id;
        ClassId class_id;
        std::vector<Vector> values;
    };

    /// A new value for one row of one column.
    struct Replacement {
        SlotId slot;
        std::size_t row;
        Vector value;
    };

    /// Throws StateError (duplicate id, wrong number of attributes, wrong vector length).
    State(std::shared_ptr<Schema const> schema, std::vector<ObjectData> objects);
    /// Trusts its caller: columns as the schema's slots, each with as many rows as its class has ids. Sums are
    /// computed; those whose terms are columns of `origin` (null: none) are shared with it.
    State(std::shared_ptr<Schema const> schema, std::shared_ptr<Roster const> roster, std::vector<ColumnPtr> columns,
          State const* origin = nullptr);

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] std::shared_ptr<Roster const> const& roster() const { return roster_; }
    /// By slot, without sums.
    [[nodiscard]] std::span<ColumnPtr const> columns() const { return {columns_.data(), schema_->slots().size()}; }
    [[nodiscard]] std::vector<ColumnPtr> copy_of_columns() const { return {columns().begin(), columns().end()}; }
    /// Of a slot or a sum (see Schema::columns).
    [[nodiscard]] ColumnPtr const& column(SlotId slot) const { return columns_[slot]; }
    [[nodiscard]] VectorView value(SlotId slot, std::size_t row) const { return columns_[slot]->row(row); }
    [[nodiscard]] std::size_t rows(ClassId c) const { return roster_->ids(c).size(); }

    /// A copy in which row `row` of `slot` is `value`; shares every other column.
    [[nodiscard]] State with(SlotId slot, std::size_t row, VectorView value) const;
    /// The same for several rows at once, each column copied at most once; later ones win.
    [[nodiscard]] State with(std::span<Replacement const> replacements) const;

    /// Same objects with the same values, of an equal schema.
    bool operator==(State const& other) const;
    [[nodiscard]] std::uint64_t hash() const;

private:
    void add_sums(State const* origin);

    std::shared_ptr<Schema const> schema_;
    std::shared_ptr<Roster const> roster_;
    std::vector<ColumnPtr> columns_;  // as Schema::columns()
};

/// Computes the values of derived attributes from the other ones.
class Derivation {
public:
    Derivation() = default;
    virtual ~Derivation() = default;
    Derivation(Derivation const&) = delete;
    Derivation& operator=(Derivation const&) = delete;

    [[nodiscard]] virtual State apply(State const& state) const = 0;
};

/// The state with its derived values computed, where its schema says how.
[[nodiscard]] inline State derived(State state) {
    Derivation const* const derivation = state.schema()->derivation();
    return derivation == nullptr ? std::move(state) : derivation->apply(state);
}

/// Throws TransitionError, which names ids, when the two do not have the same objects.
void check_same_objects(State const& before, State const& after);

}  // namespace treethink
