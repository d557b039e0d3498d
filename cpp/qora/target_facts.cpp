#include "qora/target_facts.hpp"

namespace treethink::qora {

TargetFacts::TargetFacts(Schema const& schema) : schema_(schema) {
    for (Attribute const& attribute : schema.attributes()) {
        takes_equality_.push_back(takes_part(attribute, false));
        takes_difference_.push_back(takes_part(attribute, true));
    }
}

void TargetFacts::set_target(State const& state, Place target, Predicates const& predicates) {
    for (Fact const& fact : facts_)
        if (fact.predicate) holders_[*fact.predicate] = {fact.group};
    facts_.clear();
    values_.clear();
    links_.clear();
    collect_facts(state, target);
    link_predicates(predicates);
}

void TargetFacts::collect_facts(State const& state, Place target) {
    rows_.assign(1, 1);
    collect_values(state, target, target_alone, false);
    for (std::size_t c = 0; c < schema_.classes().size(); ++c) {
        rows_.push_back(state.rows(ClassId(c)));
        for (Row row = 0; row < rows_.back(); ++row) {
            Place const other{ClassId(c), row};
            collect_differences(state, target, other);
            collect_values(state, other, group_of(ClassId(c)), ClassId(c) == target.class_id && row == target.row);
        }
    }
}

void TargetFacts::collect_differences(State const& state, Place target, Place other) {
    bool const is_target_as_other = other.class_id == target.class_id && other.row == target.row;
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
            facts_.push_back({std::nullopt, group_of(other.class_id), m, true, is_target_as_other, other.row,
                              static_cast<std::uint32_t>(first)});
        else
            values_.resize(first);
    }
}

void TargetFacts::collect_values(State const& state, Place other, Group group, bool is_target_as_other) {
    for (AttributeId const m : schema_.classes()[other.class_id].attributes) {
        if (!takes_equality_[m]) continue;
        VectorView const value = state.value(*schema_.find_slot(other.class_id, m), other.row);
        facts_.push_back({std::nullopt, group, m, false, is_target_as_other, group == target_alone ? Row{0} : other.row,
                          static_cast<std::uint32_t>(values_.size())});
        values_.insert(values_.end(), value.begin(), value.end());
    }
}

void TargetFacts::link_predicates(Predicates const& predicates) {
    for (std::size_t p = holders_.size(); p < predicates.size(); ++p)
        holders_.push_back({predicates[PredicateId(p)].group});
    for (Fact& fact : facts_) {
        if (fact.predicate) continue;
        fact.predicate = predicates.find(fact.group, fact.attribute, fact.relative, value_of(fact));
        if (!fact.predicate) continue;
        Holders& holders = holders_[*fact.predicate];
        links_.push_back({fact.row, holders.last});
        holders.last = static_cast<std::uint32_t>(links_.size() - 1);
        ++holders.count;
    }
}

}  // namespace treethink::qora
