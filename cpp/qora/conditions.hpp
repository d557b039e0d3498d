// conditions.hpp - what QORA asks about a target: predicates, conditions, and their answers.
//
// A predicate says that an attribute of the target, or of another object, has a value, or that the
// difference of the two has. A condition is a set of predicates, kept sorted, so that those about one
// other class stand together: they are judged on the same object, and are called a group. The answer
// of a group is the set of truth vectors that occur among the objects of its class (the target too, if
// it is one of them); the answer of a condition is made of those of its groups.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/facts.hpp"

namespace treethink::qora {

using PredicateId = Id<struct PredicateTag>;
/// Predicates in the order of `Predicates::less`, none twice.
using Condition = std::span<PredicateId const>;

/// Whom a predicate is judged on: 0 is the target alone, g + 1 any object of class g.
using Group = std::uint32_t;
inline constexpr Group target_alone = 0;
[[nodiscard]] inline Group group_of(ClassId c) { return c.index + 1; }

/// An attribute has a value; `relative`: other minus target has.
struct Predicate {
    Group group = target_alone;
    AttributeId attribute;
    bool relative = false;
    Vector value;
    auto operator<=>(Predicate const&) const = default;
};

/// Places in a list, found by hash. Nothing is ever removed.
class HashIndex {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// The place for which `is_it(place)` holds, or none.
    template <class IsIt>
    [[nodiscard]] std::uint32_t find(std::uint32_t hash, IsIt&& is_it) const {
        if (slots_.empty()) return none;
        for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
            if (slots_[i].place == none) return none;
            if (slots_[i].hash == hash && is_it(slots_[i].place)) return slots_[i].place;
        }
    }
    void add(std::uint32_t hash, std::uint32_t place);

private:
    struct Slot {
        std::uint32_t hash = 0, place = none;
    };
    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
    void put(Slot slot);

    std::vector<Slot> slots_;  // a power of two, at most half of them used
    std::size_t used_ = 0;
};

/// Every predicate that any condition has, numbered as they came.
class Predicates {
public:
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] Predicate const& operator[](PredicateId p) const { return all_[p]; }
    [[nodiscard]] std::optional<PredicateId> find(Group group, AttributeId attribute, bool relative,
                                                  VectorView value) const;
    /// Only for one that is not there yet.
    PredicateId add(Predicate predicate);
    [[nodiscard]] bool less(PredicateId a, PredicateId b) const { return all_[a] < all_[b]; }
    /// What one more of that length takes, roughly.
    [[nodiscard]] static std::size_t bytes_of(std::size_t length);

private:
    std::vector<Predicate> all_;
    HashIndex index_;
};

/// What is true of one target in one state, for all predicates at once: while observing.
class TargetFacts {
public:
    explicit TargetFacts(Schema const& schema);

    void turn_to(State const& state, Place target, Predicates const& predicates);

    [[nodiscard]] Group group(PredicateId p) const { return truths_[p].group; }
    [[nodiscard]] std::size_t rows(Group group) const { return rows_[group]; }
    /// On how many objects of its class a predicate holds, and on which.
    [[nodiscard]] std::size_t count(PredicateId p) const { return truths_[p].count; }
    template <class Visit>
    void each_row(PredicateId p, Visit&& visit) const {
        for (std::uint32_t at = truths_[p].last; at != nowhere; at = holds_[at].before) visit(holds_[at].row);
    }

    /// Calls visit(predicate) for all that hold of the target, then of the other objects by class and id:
    /// differences first. New ones are added. Returns how many bytes those take.
    template <class Visit>
    std::size_t each_candidate(Predicates& predicates, Visit&& visit) {
        std::size_t bytes = 0;
        for (Fact const& fact : facts_) {
            if (fact.of_target_as_other) continue;
            VectorView const value = value_of(fact);
            auto found = fact.predicate;
            if (!found) found = predicates.find(fact.group, fact.attribute, fact.relative, value);
            if (!found) {
                found = predicates.add({fact.group, fact.attribute, fact.relative, Vector(value.begin(), value.end())});
                bytes += Predicates::bytes_of(value.size());
            }
            visit(*found);
        }
        resolve(predicates);
        return bytes;
    }

private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    // Something that holds of an object.
    struct Fact {
        std::optional<PredicateId> predicate;  // nothing: no condition asks for it
        Group group;
        AttributeId attribute;
        bool relative, of_target_as_other;
        Row row;
        std::uint32_t first_value;
    };
    struct Truth {
        Group group;
        std::uint32_t count = 0, last = nowhere;  // of holds_
    };
    struct Holds {
        Row row;
        std::uint32_t before;
    };

    void gather(State const& state, Place target);
    void gather_differences(State const& state, Place target, Place other);
    void gather_values(State const& state, Place other, Group group, bool of_target_as_other);
    /// Finds the predicates of facts that have none yet.
    void resolve(Predicates const& predicates);
    [[nodiscard]] VectorView value_of(Fact const& fact) const {
        return {values_.data() + fact.first_value, schema_.attributes()[fact.attribute].length};
    }

    Schema const& schema_;
    std::vector<bool> takes_equality_, takes_difference_;  // by attribute
    std::vector<Fact> facts_;
    std::vector<Int> values_;
    std::vector<std::size_t> rows_;  // by group
    std::vector<Truth> truths_;      // by predicate
    std::vector<Holds> holds_;
};

/// Whether the kinds of fact that an attribute takes part in allow such a predicate.
[[nodiscard]] bool takes_part(Attribute const& attribute, bool relative);

/// The same answers for the few predicates of one condition: while predicting.
class FactsAsked {
public:
    FactsAsked(State const& state, Place target, Predicates const& predicates)
        : state_(state), target_(target), predicates_(predicates) {}

    [[nodiscard]] Group group(PredicateId p) const { return predicates_[p].group; }
    [[nodiscard]] std::size_t rows(Group group) const {
        return group == target_alone ? 1 : state_.rows(ClassId(group - 1));
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
        SlotId const slot = *schema.find_slot(ClassId(asked.group - 1), asked.attribute);
        state_.column(slot)->for_each_row_with(wanted.view(), [&](Row row) { return visit(row), true; });
    }

private:
    State const& state_;
    Place target_;
    Predicates const& predicates_;
};

/// The answer of a condition as a number, which orders the cases of a table.
///
/// A group of m predicates has 2^m truth vectors, read as numbers with the first predicate as the lowest
/// bit; its answer is the number with those bits set. The groups' answers are the digits, the first group
/// the least. `WideKey` is that number for conditions of more than 64 bits, written from its highest digit:
/// for each vector that occurs, largest first, a 1 and its words, then a 0. They compare as the numbers do.
using WideKey = std::vector<std::uint64_t>;

[[nodiscard]] inline std::size_t words_for(std::size_t predicates) { return (predicates + 63) / 64; }

/// Calls visit(first, end) for each group of a condition, in order; places in the condition.
template <class GroupOf, class Visit>
void each_group(Condition condition, GroupOf&& group, Visit&& visit) {
    for (std::size_t first = 0, end = 0; first < condition.size(); first = end) {
        while (end < condition.size() && group(condition[end]) == group(condition[first])) ++end;
        visit(first, end);
    }
}

/// How many bits an answer has; 65 for any number that is larger than 64.
[[nodiscard]] std::size_t answer_bits(Condition condition, Predicates const& predicates);

class Evaluator {
public:
    /// For conditions of at most 64 bits.
    template <class Facts>
    [[nodiscard]] std::uint64_t narrow(Condition condition, Facts const& facts) {
        std::uint64_t key = 0;
        unsigned shift = 0;
        for (std::size_t first = 0, end = 0; first < condition.size(); first = end) {
            Group const group = facts.group(condition[first]);
            while (end < condition.size() && facts.group(condition[end]) == group) ++end;
            key |= answer(condition.subspan(first, end - first), facts, facts.rows(group)) << shift;
            shift += 1U << (end - first);
        }
        return key;
    }

    template <class Facts>
    [[nodiscard]] WideKey wide(Condition condition, Facts const& facts) {
        WideKey key;
        for (std::size_t end = condition.size(), first = end; end > 0; end = first) {
            Group const group = facts.group(condition[end - 1]);
            while (first > 0 && facts.group(condition[first - 1]) == group) --first;
            append_vectors(condition.subspan(first, end - first), facts, facts.rows(group), key);
            key.push_back(0);
        }
        return key;
    }

private:
    template <class Facts>
    std::uint64_t answer(Condition group, Facts const& facts, std::size_t rows) {
        if (group.size() == 1) {
            std::size_t const count = facts.count(group[0]);
            return (count > 0 ? 2U : 0U) | (count < rows ? 1U : 0U);
        }
        mark(group, facts, rows);
        std::uint64_t bits = touched_.size() < rows ? 1 : 0;
        for (Row const row : touched_) {
            bits |= std::uint64_t{1} << vectors_[row];
            vectors_[row] = 0;
        }
        return bits;
    }

    /// The truth vectors of all rows on which any of the predicates holds.
    template <class Facts>
    void mark(Condition group, Facts const& facts, std::size_t rows) {
        std::size_t const words = words_for(group.size());
        touched_.clear();
        if (vectors_.size() < rows * words) vectors_.resize(rows * words, 0);
        for (std::size_t j = 0; j < group.size(); ++j)
            facts.each_row(group[j], [&](Row row) {
                auto const vector = std::span(vectors_).subspan(row * words, words);
                bool const untouched = std::all_of(vector.begin(), vector.end(), [](auto word) { return word == 0; });
                if (untouched) touched_.push_back(row);
                vector[j / 64] |= std::uint64_t{1} << (j % 64);
            });
    }

    template <class Facts>
    void append_vectors(Condition group, Facts const& facts, std::size_t rows, WideKey& key) {
        std::size_t const words = words_for(group.size());
        mark(group, facts, rows);
        std::vector<std::vector<std::uint64_t>> found;
        if (touched_.size() < rows) found.emplace_back(words, 0);
        for (Row const row : touched_) {
            auto const vector = std::span(vectors_).subspan(row * words, words);
            found.emplace_back(vector.rbegin(), vector.rend());
            std::fill(vector.begin(), vector.end(), 0);
        }
        std::sort(found.rbegin(), found.rend());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        for (auto const& each : found) {
            key.push_back(1);
            key.insert(key.end(), each.begin(), each.end());
        }
    }

    std::vector<std::uint64_t> vectors_;  // by row; all zero between calls
    std::vector<Row> touched_;
};

}  // namespace treethink::qora
