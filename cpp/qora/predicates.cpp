#include "qora/predicates.hpp"

#include <algorithm>
#include <utility>

namespace treethink::qora {

namespace {

std::uint32_t hash_of(Group group, AttributeId attribute, bool relative, VectorView value) {
    std::uint64_t hash = (std::uint64_t{group} << 33) ^ (std::uint64_t{attribute.index} << 1) ^ (relative ? 1U : 0U);
    for (Int const each : value) {
        hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

bool takes_part(Attribute const& attribute, bool relative) {
    return std::count(attribute.facts.begin(), attribute.facts.end(), relative ? "difference" : "equality") > 0;
}

std::optional<PredicateId> Predicates::find(Group group, AttributeId attribute, bool relative, VectorView value) const {
    std::uint32_t const position = index_.find(hash_of(group, attribute, relative, value), [&](std::uint32_t i) {
        Predicate const& each = all_[i];
        return each.group == group && each.attribute == attribute && each.relative == relative &&
               same(each.value, value);
    });
    return position == HashIndex::none ? std::nullopt : std::optional(PredicateId(position));
}

PredicateId Predicates::add(Predicate predicate) {
    PredicateId const id(all_.size());
    index_.add(hash_of(predicate.group, predicate.attribute, predicate.relative, predicate.value), id.index);
    all_.push_back(std::move(predicate));
    return id;
}

std::size_t Predicates::bytes_of(std::size_t length) {
    constexpr std::size_t allocation = 16, index_entry = 32;
    return sizeof(Predicate) + allocation + length * sizeof(Int) + index_entry;
}

}  // namespace treethink::qora
