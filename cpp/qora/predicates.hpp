// predicates.hpp - what QORA's conditions are made of.
//
// A predicate says that an attribute of the target, or of another object, has a value, or that the
// difference between another object's value and the target's is a value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/facts.hpp"
#include "core/hash.hpp"

namespace treethink::qora {

using PredicateId = Id<struct PredicateTag>;
/// A set of predicates: sorted by `Predicates::less`, none twice.
using Condition = std::span<PredicateId const>;

/// Which objects a predicate is about: 0 is the target itself, c + 1 any object of class c.
using Group = std::uint32_t;
inline constexpr Group target_alone = 0;
[[nodiscard]] inline Group group_of(ClassId c) { return c.index + 1; }
/// Not for `target_alone`.
[[nodiscard]] inline ClassId class_of(Group group) { return ClassId(group - 1); }

/// `attribute = value`, of an object of the group.
struct Predicate {
    Group group = target_alone;
    AttributeId attribute;
    bool relative = false;  // the object's value minus the target's is meant
    Vector value;
    auto operator<=>(Predicate const&) const = default;
};

/// Every predicate of any condition, numbered in order of creation.
class Predicates {
public:
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] Predicate const& operator[](PredicateId p) const { return all_[p]; }
    [[nodiscard]] std::optional<PredicateId> find(Group group, AttributeId attribute, bool relative,
                                                  VectorView value) const;
    /// Only for a predicate that is not there yet.
    PredicateId add(Predicate predicate);
    [[nodiscard]] bool less(PredicateId a, PredicateId b) const { return all_[a] < all_[b]; }
    /// Approximate memory of one predicate with a value of this length.
    [[nodiscard]] static std::size_t bytes_of(std::size_t length);

private:
    std::vector<Predicate> all_;
    HashIndex index_;
};

/// Whether the kinds of fact that an attribute takes part in allow such a predicate.
[[nodiscard]] bool takes_part(Attribute const& attribute, bool relative);

}  // namespace treethink::qora
