#include "qora/conditions.hpp"

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

std::size_t answer_bits(Condition condition, Predicates const& predicates) {
    std::size_t bits = 0;
    each_group(
        condition, [&](PredicateId p) { return predicates[p].group; },
        [&](std::size_t first, std::size_t end) { bits += end - first > 6 ? 65 : std::size_t{1} << (end - first); });
    return std::min<std::size_t>(bits, 65);
}

// ---- predicates ----

void HashIndex::put(Slot slot) {
    std::size_t i = slot.hash & mask();
    while (slots_[i].place != none) i = (i + 1) & mask();
    slots_[i] = slot;
}

void HashIndex::add(std::uint32_t hash, std::uint32_t place) {
    if (2 * ++used_ > slots_.size()) {
        std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
        old.swap(slots_);
        for (Slot const& each : old)
            if (each.place != none) put(each);
    }
    put({hash, place});
}

std::optional<PredicateId> Predicates::find(Group group, AttributeId attribute, bool relative, VectorView value) const {
    std::uint32_t const place = index_.find(hash_of(group, attribute, relative, value), [&](std::uint32_t i) {
        Predicate const& each = all_[i];
        return each.group == group && each.attribute == attribute && each.relative == relative &&
               same(each.value, value);
    });
    return place == HashIndex::none ? std::nullopt : std::optional(PredicateId(place));
}

PredicateId Predicates::add(Predicate predicate) {
    PredicateId const id(all_.size());
    index_.add(hash_of(predicate.group, predicate.attribute, predicate.relative, predicate.value), id.index);
    all_.push_back(std::move(predicate));
    return id;
}

std::size_t Predicates::bytes_of(std::size_t length) { return sizeof(Predicate) + 16 + length * sizeof(Int) + 32; }

// ---- facts of a target ----

TargetFacts::TargetFacts(Schema const& schema) : schema_(schema) {
    for (Attribute const& attribute : schema.attributes()) {
        takes_equality_.push_back(takes_part(attribute, false));
        takes_difference_.push_back(takes_part(attribute, true));
    }
}

void TargetFacts::turn_to(State const& state, Place target, Predicates const& predicates) {
    for (Fact const& fact : facts_)
        if (fact.predicate) truths_[*fact.predicate] = {fact.group};
    facts_.clear();
    values_.clear();
    holds_.clear();
    gather(state, target);
    resolve(predicates);
}

void TargetFacts::gather(State const& state, Place target) {
    rows_.assign(1, 1);
    gather_values(state, target, target_alone, false);
    for (std::size_t c = 0; c < schema_.classes().size(); ++c) {
        rows_.push_back(state.rows(ClassId(c)));
        for (Row row = 0; row < rows_.back(); ++row) {
            Place const other{ClassId(c), row};
            gather_differences(state, target, other);
            gather_values(state, other, group_of(ClassId(c)), ClassId(c) == target.class_id && row == target.row);
        }
    }
}

void TargetFacts::gather_differences(State const& state, Place target, Place other) {
    bool const of_target_as_other = other.class_id == target.class_id && other.row == target.row;
    for (AttributeId const m : schema_.classes()[other.class_id].attributes) {
        auto const own_slot = schema_.find_slot(target.class_id, m);
        if (!takes_difference_[m] || !own_slot) continue;
        VectorView const own = state.value(*own_slot, target.row);
        VectorView const others = state.value(*schema_.find_slot(other.class_id, m), other.row);
        std::size_t const first = values_.size();
        values_.resize(first + own.size());
        bool fits = true;
        for (std::size_t i = 0; i < own.size(); ++i) fits = fits && subtract(others[i], own[i], values_[first + i]);
        if (fits)
            facts_.push_back({std::nullopt, group_of(other.class_id), m, true, of_target_as_other, other.row,
                              static_cast<std::uint32_t>(first)});
        else
            values_.resize(first);
    }
}

void TargetFacts::gather_values(State const& state, Place other, Group group, bool of_target_as_other) {
    for (AttributeId const m : schema_.classes()[other.class_id].attributes) {
        if (!takes_equality_[m]) continue;
        VectorView const value = state.value(*schema_.find_slot(other.class_id, m), other.row);
        facts_.push_back({std::nullopt, group, m, false, of_target_as_other, group == target_alone ? Row{0} : other.row,
                          static_cast<std::uint32_t>(values_.size())});
        values_.insert(values_.end(), value.begin(), value.end());
    }
}

void TargetFacts::resolve(Predicates const& predicates) {
    for (std::size_t p = truths_.size(); p < predicates.size(); ++p)
        truths_.push_back({predicates[PredicateId(p)].group});
    for (Fact& fact : facts_) {
        if (fact.predicate) continue;
        fact.predicate = predicates.find(fact.group, fact.attribute, fact.relative, value_of(fact));
        if (!fact.predicate) continue;
        Truth& truth = truths_[*fact.predicate];
        holds_.push_back({fact.row, truth.last});
        truth.last = static_cast<std::uint32_t>(holds_.size() - 1);
        ++truth.count;
    }
}

}  // namespace treethink::qora
