// schema.hpp - which classes of objects, attributes and actions a world has.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace treethink {

/// A position in one of the schema's lists. Each list has its own type of id.
template <class Tag>
struct Id {
    std::uint32_t index = 0;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t position) : index(static_cast<std::uint32_t>(position)) {}
    constexpr operator std::size_t() const { return index; }  // NOLINT(google-explicit-constructor): ids index lists
    friend constexpr bool operator==(Id a, Id b) { return a.index == b.index; }
    friend constexpr auto operator<=>(Id a, Id b) { return a.index <=> b.index; }
};

using ClassId = Id<struct ClassTag>;
using AttributeId = Id<struct AttributeTag>;
using ActionId = Id<struct ActionTag>;
/// One attribute of one class: what a column of a state holds.
using SlotId = Id<struct SlotTag>;

/// What outcomes of rules about an attribute are relative to (see frame.hpp).
enum class OutcomeForm : std::uint8_t {
    automatic,  // each rule chooses
    change,     // always the value before
    value       // always zero: outcomes are new values
};

struct Attribute {
    std::string name;
    /// Number of integers in a value.
    std::size_t length = 1;
    /// Names of the kinds of fact this attribute takes part in (see facts.hpp).
    std::vector<std::string> facts;
    OutcomeForm outcomes = OutcomeForm::automatic;
    /// Name of the attribute whose unit this one has; empty: a unit of its own (see Schema::unit).
    std::string like;
    /// Names of the values 0, 1, ... of a category; empty: values are numbers.
    std::vector<std::string> names;
    /// What the attribute is to its user, such as "position" or "flag"; empty: nothing in particular.
    std::string kind;
    /// A function of the rest of the state: it takes part in facts, but is not predicted.
    bool derived = false;
    /// Positions of the attributes whose sum it is (see Schema::columns); the first one gives it its unit.
    std::optional<std::array<std::size_t, 2>> sum_of = std::nullopt;

    [[nodiscard]] bool is_flag() const { return kind == "flag"; }
    /// Whether values are names or bools: their numbers can be equal, and mean nothing else.
    [[nodiscard]] bool is_symbolic() const { return !names.empty() || is_flag(); }
    /// Whether rules begin with new values as outcomes, instead of changes.
    [[nodiscard]] bool starts_by_value() const { return outcomes == OutcomeForm::value || is_symbolic(); }
    /// Whether values of the two mean the same; how rules may use them can differ.
    [[nodiscard]] bool same_values(Attribute const& other) const {
        return name == other.name && length == other.length && names == other.names && kind == other.kind &&
               derived == other.derived;
    }
    bool operator==(Attribute const&) const = default;
};

struct Class {
    std::string name;
    std::vector<AttributeId> attributes;  // ascending
    bool operator==(Class const&) const = default;
};

class Derivation;  // see state.hpp

/// Which classes, attributes and actions there are. Immutable; shared by states and models.
class Schema {
public:
    struct Slot {
        ClassId class_id;
        AttributeId attribute;
    };

    /// Throws SchemaError when a name is empty or repeated, a class names an unknown
    /// attribute, a class has an attribute twice, or a length is 0 or above `max_vector_length`,
    /// or attributes of one unit differ in length or names; UnknownName when `like` names no attribute.
    Schema(std::vector<Class> classes, std::vector<Attribute> attributes, std::vector<std::string> actions);

    [[nodiscard]] std::vector<Class> const& classes() const { return classes_; }
    /// Those that were declared.
    [[nodiscard]] std::span<Attribute const> attributes() const { return {attributes_.data(), n_attributes_}; }
    [[nodiscard]] std::vector<std::string> const& actions() const { return actions_; }
    /// All (class, attribute) pairs of declared attributes, by class, then attribute.
    [[nodiscard]] std::span<Slot const> slots() const { return {slots_.data(), n_slots_}; }
    /// The same, followed by sums: where an object will be if it takes a step, such as pos + heading, is as much a
    /// place as where it is. A class has the sum of any two vectors of one length; states compute it, facts may be
    /// about it.
    [[nodiscard]] std::span<Slot const> columns() const { return slots_; }
    [[nodiscard]] Slot const& column(SlotId slot) const { return slots_[slot]; }
    /// The columns whose sum a column after slots() is: the place, which gives it its unit, and the step.
    [[nodiscard]] std::array<SlotId, 2> terms_of(SlotId sum) const;
    /// Whether facts and frames may be about a sum: both attributes take part in differences, in units of their own.
    [[nodiscard]] bool compares_sum(AttributeId sum) const;
    /// Facts and frames are about no sums from now on, as in files from before there were any. Only before the schema
    /// is shared.
    void leave_out_sums() { compares_sums_ = false; }
    /// Attributes of columns are numbered on beyond attributes().
    [[nodiscard]] std::size_t attributes_of_columns() const { return attributes_.size(); }
    [[nodiscard]] Attribute const& attribute(AttributeId a) const { return attributes_[a]; }
    [[nodiscard]] std::optional<SlotId> find_slot(ClassId c, AttributeId a) const {
        auto const slot = slot_of_[c * attributes_.size() + a];
        return slot == no_slot ? std::nullopt : std::optional<SlotId>(SlotId(slot));
    }
    [[nodiscard]] Attribute const& attribute(SlotId slot) const { return attributes_[slots_[slot].attribute]; }
    /// The slots of the classes that have a declared attribute, by class.
    [[nodiscard]] std::span<SlotId const> slots_with(AttributeId a) const { return slots_with_[a]; }
    /// Number of integers in a value of the slot.
    [[nodiscard]] std::size_t length(SlotId slot) const { return attribute(slot).length; }

    /// What computes derived values; null where they are all given. No part of the schema's value.
    [[nodiscard]] Derivation const* derivation() const { return derivation_.get(); }
    /// Whether the values of the slot are computed.
    [[nodiscard]] bool computes(SlotId slot) const {
        return derivation_ != nullptr && computed_[slots_[slot].attribute];
    }
    /// Sets what computes these attributes. Only before the schema is shared.
    void compute_by(std::shared_ptr<Derivation const> derivation, std::vector<AttributeId> const& computed);

    /// The first attribute of the chain of `like`s: attributes of the same unit can be compared.
    [[nodiscard]] AttributeId unit(AttributeId a) const { return units_[a]; }

    /// These throw UnknownName, with `where` naming the schema's list.
    [[nodiscard]] ClassId class_named(std::string_view name) const;
    [[nodiscard]] AttributeId attribute_named(std::string_view name) const;
    [[nodiscard]] ActionId action_named(std::string_view name) const;

    /// Whether states of the two schemas are the same: `facts`, outcomes and `like` say how a model learns only.
    [[nodiscard]] bool fits(Schema const& other) const;

    bool operator==(Schema const& other) const {
        return classes_ == other.classes_ && attributes_ == other.attributes_ && actions_ == other.actions_;
    }

private:
    static constexpr std::size_t max_slots = 10'000'000;
    static constexpr std::size_t max_sums = 64, max_vectors_to_add = 4;
    static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
    struct NameHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
    };
    using Names = std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>>;

    void check_lengths() const;
    [[nodiscard]] AttributeId find_unit(AttributeId a) const;
    void check_unit(AttributeId a) const;
    /// Adds an attribute for each pair whose sum some class has.
    void add_sums();
    void add_pairs(Class const& owner, std::set<std::pair<std::size_t, std::size_t>>& pairs) const;
    /// How many classes have an attribute of the unit, and how many such attributes they have.
    [[nodiscard]] std::pair<std::size_t, std::size_t> owners_of(AttributeId unit) const;
    /// Numbers the slots of one class, its attributes ascending.
    void add_slots(ClassId class_id);
    /// Numbers the sums, by class, then attribute.
    void add_slots_of_sums();

    std::vector<Class> classes_;
    std::vector<Attribute> attributes_;           // those of sums last
    std::size_t n_attributes_ = 0, n_slots_ = 0;  // without sums
    std::vector<std::string> actions_;
    std::vector<AttributeId> units_;
    bool compares_sums_ = true;
    std::shared_ptr<Derivation const> derivation_;
    std::vector<bool> computed_;  // by attribute; empty without a derivation
    std::vector<Slot> slots_;
    std::vector<std::vector<SlotId>> slots_with_;  // by declared attribute
    std::vector<std::uint32_t> slot_of_;           // [class * attributes + attribute]; no_slot: the class lacks it
    Names class_names_, attribute_names_, action_names_;
};

}  // namespace treethink
