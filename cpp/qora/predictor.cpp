#include "qora/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace treethink::qora {

namespace {

std::uint32_t hash_of(Condition condition) {
    std::uint64_t hash = condition.size();
    for (PredicateId const p : condition) hash = (hash ^ p.index) * 0x9E3779B97F4A7C15U, hash ^= hash >> 29;
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::size_t bytes_of_condition(std::size_t predicates) {
    return sizeof(Predictor::CountedCondition) + predicates * sizeof(PredicateId) + sizeof(std::uint32_t) +
           2 * allocation_bytes;
}

}  // namespace

Predictor::Predictor(MemoryUse& memory) { memory.bytes += sizeof *this; }

void Predictor::observe(ObservationContext& context, VectorView effect) {
    std::size_t const y = effect_index(effect, context.memory);
    baseline_.add(std::uint64_t{0}, y);
    for (std::uint32_t const at : hypotheses_) {
        count(at, context, y);
        CountedCondition& each = conditions_[at];
        each.interval = wilson_interval(each.table.successes(), each.table.total(), context.z);
    }
    bubble_up_once();
    bool const beaten =
        hypotheses_.size() > 1 && conditions_[hypotheses_[1]].interval.beats(conditions_[hypotheses_[0]].interval);
    if (beaten) replace_best_hypothesis(context);
    if (!hypotheses_.empty() && best_is_certain(context, y)) return;
    add_candidates(context);
    test_candidates(context, y);
}

std::size_t Predictor::effect_index(VectorView effect, MemoryUse& memory) {
    for (std::size_t y = 0; y < effects_.size(); ++y)
        if (same(effects_[y], effect)) return y;
    effects_.emplace_back(effect.begin(), effect.end());
    memory.bytes += sizeof(Vector) + allocation_bytes + effect.size() * sizeof(Int);
    return effects_.size() - 1;
}

template <class Use>
auto Predictor::with_key(std::uint32_t at, auto const& facts, Evaluator& evaluator, Use&& use) const {
    if (conditions_[at].table.wide()) return use(evaluator.wide(condition(at), facts));
    return use(evaluator.narrow(condition(at), facts));
}

void Predictor::count(std::uint32_t at, ObservationContext& context, std::size_t effect) {
    CaseTable& table = conditions_[at].table;
    with_key(at, context.facts, context.evaluator, [&](auto const& key) {
        context.memory.bytes -= table.bytes();
        table.add(key, effect);
        context.memory.bytes += table.bytes();
    });
}

// From the end, so that each hypothesis moves up by any number of places but down by one at most.
void Predictor::bubble_up_once() {
    for (std::size_t i = hypotheses_.size(); i-- > 2;)
        if (conditions_[hypotheses_[i]].interval.beats(conditions_[hypotheses_[i - 1]].interval))
            std::swap(hypotheses_[i], hypotheses_[i - 1]);
}

void Predictor::replace_best_hypothesis(ObservationContext& context) {
    std::swap(hypotheses_[0], hypotheses_[1]);
    reset_all(context.memory);
    for (std::size_t i = 2; i < hypotheses_.size(); ++i) make_union(hypotheses_[0], hypotheses_[i], context);
}

void Predictor::reset(CaseTable& table, MemoryUse& memory) {
    memory.bytes -= table.bytes();
    table.reset();
}

void Predictor::reset_all(MemoryUse& memory) {
    baseline_.reset();
    for (std::uint32_t const at : candidates_) reset(conditions_[at].table, memory);
}

bool Predictor::best_is_certain(ObservationContext& context, std::size_t effect) const {
    CaseTable const& table = conditions_[hypotheses_[0]].table;
    return with_key(hypotheses_[0], context.facts, context.evaluator, [&](auto const& key) {
        auto const counts = table.counts(table.lower_bound(key));
        for (std::size_t y = 0; y < counts.size(); ++y)
            if (y != effect && counts[y] > 0) return false;
        return true;
    });
}

void Predictor::add_candidates(ObservationContext& context) {
    context.memory.bytes += context.facts.each_candidate(
        context.predicates, [&](PredicateId p) { add_if_new(std::span(&p, 1), context.predicates, context.memory); });
}

void Predictor::test_candidates(ObservationContext& context, std::size_t effect) {
    Interval threshold = wilson_interval(baseline_.successes(), baseline_.total(), context.z);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {  // promotion adds candidates at the end
        std::uint32_t const at = candidates_[i];
        count(at, context, effect);
        CaseTable const& table = conditions_[at].table;
        std::uint64_t const n = table.total();
        // Cheap test first: most have seen too little to win even if they were always right.
        bool const wins = wilson_interval(n, n, context.z).beats(threshold) &&
                          wilson_interval(table.successes(), n, context.z).beats(threshold);
        if (!wins) {
            candidates_[kept++] = at;
            continue;
        }
        promote(at, context);
        if (hypotheses_.size() == 1) threshold = {};
    }
    candidates_.resize(kept);
}

void Predictor::promote(std::uint32_t at, ObservationContext& context) {
    reset(conditions_[at].table, context.memory);
    conditions_[at].interval = {};
    hypotheses_.push_back(at);
    ++context.memory.hypotheses;
    --context.memory.candidates;
    if (hypotheses_.size() == 1)
        reset_all(context.memory);
    else
        make_union(hypotheses_[0], at, context);
}

void Predictor::make_union(std::uint32_t a, std::uint32_t b, ObservationContext& context) {
    Condition const first = condition(a), second = condition(b);
    union_.clear();
    std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(union_),
                   [&](PredicateId p, PredicateId q) { return context.predicates.less(p, q); });
    add_if_new(union_, context.predicates, context.memory);
}

void Predictor::add_if_new(Condition condition, Predicates const& predicates, MemoryUse& memory) {
    if (has(condition)) return;
    if (memory.bytes > memory.max_bytes)
        memory.exhausted = true;
    else
        add(condition, predicates, memory);
}

bool Predictor::has(Condition condition) const {
    return index_.find(hash_of(condition), [&](std::uint32_t i) {
        Condition const other = this->condition(i);
        return std::equal(other.begin(), other.end(), condition.begin(), condition.end());
    }) != HashIndex::none;
}

void Predictor::add(Condition condition, Predicates const& predicates, MemoryUse& memory) {
    auto const at = static_cast<std::uint32_t>(conditions_.size());
    index_.add(hash_of(condition), at);
    conditions_.push_back({predicates_.size(),
                           static_cast<std::uint32_t>(condition.size()),
                           {},
                           CaseTable(answer_bits(condition, predicates) > 64)});
    predicates_.insert(predicates_.end(), condition.begin(), condition.end());
    candidates_.push_back(at);
    ++memory.candidates;
    ++memory.conditions;
    memory.bytes += bytes_of_condition(condition.size());
}

std::vector<std::uint64_t> Predictor::effect_counts(FactsOfConditions const& facts, Evaluator& evaluator) const {
    if (hypotheses_.empty()) {
        auto const counts = baseline_.counts(0);
        return {counts.begin(), counts.end()};
    }
    CaseTable const& table = conditions_[hypotheses_[0]].table;
    return with_key(hypotheses_[0], facts, evaluator, [&](auto const& key) -> std::vector<std::uint64_t> {
        std::size_t const at = table.lower_bound(key);
        if (!table.has(at, key)) return {};
        auto const counts = table.counts(at);
        return {counts.begin(), counts.end()};
    });
}

}  // namespace treethink::qora
