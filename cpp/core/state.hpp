// state.hpp - what a world looks like at one moment.
//
// A state is a set of objects; an object has an id, a class and one integer vector
// for every attribute of its class. States are immutable values. They are stored by
// column (one attribute of one class, all objects), and columns are shared between
// states, so a changed copy costs what changed, and "did anything move?" is mostly a
// comparison of pointers.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace treethink {

using Int = std::int64_t;
/// The value of an attribute, or a difference of two: a vector of integers.
using Vector = std::vector<Int>;
using VectorView = std::span<Int const>;
/// Longer vectors are a mistake (or a damaged file), not a world.
inline constexpr std::size_t longest_vector = 1'000'000;

/// A position in one of the schema's lists. Each list has its own type of id.
template <class Tag>
struct Id {
    std::uint32_t index = 0;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t position) : index(static_cast<std::uint32_t>(position)) {}
    constexpr operator std::size_t() const { return index; }  // NOLINT: ids index lists
    friend constexpr bool operator==(Id a, Id b) { return a.index == b.index; }
    friend constexpr auto operator<=>(Id a, Id b) { return a.index <=> b.index; }
};

using ClassId = Id<struct ClassTag>;
using AttributeId = Id<struct AttributeTag>;
using ActionId = Id<struct ActionTag>;
/// One attribute of one class: what a column of a state holds.
using SlotId = Id<struct SlotTag>;

/// Object's place in a state: its class, and its row among the objects of that class.
struct Place {
    ClassId class_id;
    std::uint32_t row;
};

/// Base of every error that the engine reports about its input.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct SchemaError : Error {
    using Error::Error;
};
struct StateError : Error {
    using Error::Error;
};
struct TransitionError : Error {
    using Error::Error;
};
struct SettingError : Error {
    using Error::Error;
};
struct RuleError : Error {
    using Error::Error;
};
struct ModelFileError : Error {
    using Error::Error;
};
struct ResourceError : Error {
    using Error::Error;
};
/// A name that is not in the list it should come from.
struct UnknownName : Error {
    UnknownName(std::string kind_, std::string name_, std::vector<std::string> known_, std::string where_)
        : Error("unknown " + kind_ + " '" + name_ + "' in " + where_), kind(std::move(kind_)), name(std::move(name_)),
          known(std::move(known_)), where(std::move(where_)) {}
    std::string kind, name;
    std::vector<std::string> known;
    std::string where;
};

struct Attribute {
    std::string name;
    std::size_t length = 1;
    /// Names of the kinds of fact this attribute takes part in (see facts.hpp).
    std::vector<std::string> facts;
    /// Outcomes are new values instead of differences between new and old.
    bool outcomes_are_values = false;
    bool operator==(Attribute const&) const = default;
};

struct Class {
    std::string name;
    std::vector<AttributeId> attributes;  // ascending
    bool operator==(Class const&) const = default;
};

/// Which classes, attributes and actions there are. Immutable; shared by states and models.
class Schema {
public:
    struct Slot {
        ClassId class_id;
        AttributeId attribute;
    };

    /// Throws SchemaError when a name is empty or repeated, a class names an unknown
    /// attribute, a class has an attribute twice, or a length is 0 or beyond `longest_vector`.
    Schema(std::vector<Class> classes, std::vector<Attribute> attributes, std::vector<std::string> actions);

    [[nodiscard]] std::vector<Class> const& classes() const { return classes_; }
    [[nodiscard]] std::vector<Attribute> const& attributes() const { return attributes_; }
    [[nodiscard]] std::vector<std::string> const& actions() const { return actions_; }
    /// All (class, attribute) pairs, by class, then attribute.
    [[nodiscard]] std::vector<Slot> const& slots() const { return slots_; }
    [[nodiscard]] std::optional<SlotId> find_slot(ClassId c, AttributeId a) const {
        auto const slot = slot_of_[c * attributes_.size() + a];
        return slot == no_slot ? std::nullopt : std::optional<SlotId>(SlotId(slot));
    }
    [[nodiscard]] std::size_t length(SlotId slot) const { return attributes_[slots_[slot].attribute].length; }

    /// These throw UnknownName, with `where` naming the schema's list.
    [[nodiscard]] ClassId class_named(std::string_view name) const;
    [[nodiscard]] AttributeId attribute_named(std::string_view name) const;
    [[nodiscard]] ActionId action_named(std::string_view name) const;

    bool operator==(Schema const& other) const {
        return classes_ == other.classes_ && attributes_ == other.attributes_ && actions_ == other.actions_;
    }

private:
    static constexpr std::size_t most_slots = 10'000'000;
    static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
    struct NameHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
    };
    using Names = std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>>;

    std::vector<Class> classes_;
    std::vector<Attribute> attributes_;
    std::vector<std::string> actions_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> slot_of_;  // [class * attributes + attribute]
    Names class_names_, attribute_names_, action_names_;
};

/// One attribute of all objects of one class, row by row. Immutable and shared.
class Column {
public:
    Column(std::size_t length, std::vector<Int> values);
    ~Column();
    Column(Column const&) = delete;
    Column& operator=(Column const&) = delete;

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] VectorView row(std::size_t i) const { return {values_.data() + i * length_, length_}; }
    [[nodiscard]] std::vector<Int> const& values() const { return values_; }
    /// Depends on the values and their rows; computed once.
    [[nodiscard]] std::uint64_t hash() const;
    bool operator==(Column const& other) const { return length_ == other.length_ && values_ == other.values_; }

    /// Calls visit(row) for every row that holds `value`, ascending, until one returns false.
    ///
    /// Small columns are searched; large ones build an index at first use (safe from
    /// several threads) that makes this a look-up.
    template <class Visit>
    void for_each_row_with(VectorView value, Visit&& visit) const {
        if (rows_ <= small) {
            for (std::uint32_t i = 0; i < rows_; ++i)
                if (equal(row(i), value) && !visit(i)) return;
        } else {
            for (std::uint32_t i : index().rows_with(*this, value))
                if (!visit(i)) return;
        }
    }
    /// The most rows that share one value (an upper bound for small columns: their size).
    [[nodiscard]] std::size_t most_equal_rows() const { return rows_ <= small ? rows_ : index().most_equal; }

private:
    static constexpr std::size_t small = 6;

    // Rows sorted by value (ties by row), with a table over the values' bounding box
    // when that box is not much larger than the column.
    struct Index {
        std::vector<std::uint32_t> order;
        std::vector<std::uint32_t> first;  // of box cell, into order; empty: use binary search
        std::vector<Int> low, high;
        std::size_t most_equal = 1;

        explicit Index(Column const& column);
        [[nodiscard]] std::span<std::uint32_t const> rows_with(Column const& column, VectorView value) const;

    private:
        void find_box(Column const& column);
        /// Number of cells of the box, or 0 when there are more than `limit`.
        [[nodiscard]] std::size_t box_volume(std::size_t limit) const;
        [[nodiscard]] std::size_t cell(VectorView value) const;
        void sort_by_cell(Column const& column, std::size_t cells);
        void sort_by_value(Column const& column);
    };
    static bool equal(VectorView a, VectorView b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] != b[i]) return false;
        return true;
    }
    [[nodiscard]] Index const& index() const;

    std::size_t length_, rows_;
    std::vector<Int> values_;
    mutable std::atomic<std::uint64_t> hash_{0};        // 0: not yet computed
    mutable std::atomic<Index const*> index_{nullptr};  // built once, owned
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
    /// Trusts its caller: columns as the schema's slots, each with as many rows as its class has ids.
    State(std::shared_ptr<Schema const> schema, std::shared_ptr<Roster const> roster, std::vector<ColumnPtr> columns);

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] std::shared_ptr<Roster const> const& roster() const { return roster_; }
    [[nodiscard]] std::vector<ColumnPtr> const& columns() const { return columns_; }
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
    std::shared_ptr<Schema const> schema_;
    std::shared_ptr<Roster const> roster_;
    std::vector<ColumnPtr> columns_;
};

/// Throws TransitionError, which names ids, when the two do not have the same objects.
void check_same_objects(State const& before, State const& after);

}  // namespace treethink
