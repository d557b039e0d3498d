// target_facts.hpp - which predicates hold for a target and for the objects around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/facts.hpp"
#include "qora/predicates.hpp"

namespace treethink::qora {

/// Everything that is true of one target in one state, for all predicates at once. Used while observing.
class TargetFacts {
public:
    explicit TargetFacts(Schema const& schema);

    void set_target(State const& state, Place target, Predicates const& predicates);

    [[nodiscard]] Group group(PredicateId p) const { return holders_[p].group; }
    [[nodiscard]] std::size_t rows(Group group) const { return rows_[group]; }
    /// For how many objects of its group a predicate holds.
    [[nodiscard]] std::size_t count(PredicateId p) const { return holders_[p].count; }
    /// Calls visit(row) for each of them.
    template <class Visit>
    void each_row(PredicateId p, Visit&& visit) const {
        for (std::uint32_t at = holders_[p].last; at != end_of_list; at = links_[at].previous) visit(links_[at].row);
    }

    /// Calls visit(predicate) for all that hold for the target, then for the other objects by class and id,
    /// differences first. Predicates that are new are added; returns how many bytes they take.
    template <class Visit>
    std::size_t each_candidate(Predicates& predicates, Visit&& visit) {
        std::size_t bytes = 0;
        for (Fact const& fact : facts_) {
            if (fact.is_target_as_other) continue;
            VectorView const value = value_of(fact);
            auto found = fact.predicate;
            if (!found) found = predicates.find(fact.group, fact.attribute, fact.relative, value);
            if (!found) {
                found = predicates.add({fact.group, fact.attribute, fact.relative, Vector(value.begin(), value.end())});
                bytes += Predicates::bytes_of(value.size());
            }
            visit(*found);
        }
        link_predicates(predicates);
        return bytes;
    }

private:
    static constexpr std::uint32_t end_of_list = ~std::uint32_t{0};
    // An attribute of one object, or its difference from the target's.
    struct Fact {
        std::optional<PredicateId> predicate;  // none: there is no such predicate yet
        Group group;
        AttributeId attribute;
        bool relative;              // the value is a difference
        bool is_target_as_other;    // the other object is the target itself
        Row row;                    // of the other object
        std::uint32_t first_value;  // position in values_
    };
    // For which rows one predicate holds: a linked list.
    struct Holders {
        Group group;
        std::uint32_t count = 0;
        std::uint32_t last = end_of_list;  // position in links_
    };
    struct Link {
        Row row;
        std::uint32_t previous;  // position in links_
    };

    void collect_facts(State const& state, Place target);
    void collect_differences(State const& state, Place target, Place other);
    void collect_values(State const& state, Place other, Group group, bool is_target_as_other);
    /// Finds the predicates of facts that have none yet, and enters those facts' rows into their lists.
    void link_predicates(Predicates const& predicates);
    [[nodiscard]] VectorView value_of(Fact const& fact) const {
        return {values_.data() + fact.first_value, schema_.attributes()[fact.attribute].length};
    }

    Schema const& schema_;
    std::vector<bool> takes_equality_, takes_difference_;  // by attribute
    std::vector<Fact> facts_;
    std::vector<Int> values_;        // of facts_, one after the other
    std::vector<std::size_t> rows_;  // by group: its number of objects
    std::vector<Holders> holders_;   // by predicate
    std::vector<Link> links_;
};

/// The same answers, computed only for predicates that are asked for. Used while predicting.
class FactsOfConditions {
public:
    FactsOfConditions(State const& state, Place target, Predicates const& predicates)
        : state_(state), target_(target), predicates_(predicates) {}

    [[nodiscard]] Group group(PredicateId p) const { return predicates_[p].group; }
    [[nodiscard]] std::size_t rows(Group group) const {
        return group == target_alone ? 1 : state_.rows(class_of(group));
    }
    [[nodiscard]] std::size_t count(PredicateId p) const {
        std::size_t n = 0;
        each_row(p, [&n](Row) { ++n; });
        return n;
    }
    template <class Visit>
    void each_row(PredicateId p, Visit&& visit) const {
        Predicate const& asked = predicates_[p];
        Schema const& schema = *state_.schema();
        auto const own = schema.find_slot(target_.class_id, asked.attribute);
        if (asked.group == target_alone) {
            if (same(state_.value(*own, target_.row), asked.value)) visit(Row{0});
            return;
        }
        Buffer wanted(asked.value.size());
        for (std::size_t i = 0; i < asked.value.size(); ++i) {
            Int const from = asked.relative ? state_.value(*own, target_.row)[i] : 0;
            if (!add(from, asked.value[i], wanted.data()[i])) return;
        }
        SlotId const slot = *schema.find_slot(class_of(asked.group), asked.attribute);
        state_.column(slot)->for_each_row_with(wanted.view(), [&](Row row) { return visit(row), true; });
    }

private:
    State const& state_;
    Place target_;
    Predicates const& predicates_;
};

}  // namespace treethink::qora
