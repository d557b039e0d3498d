// predictor.hpp - how QORA learns the effects of one action on one attribute of one class.
//
//   observe(effect):
//     count the effect in the baseline and in every hypothesis
//     sort the hypotheses by one pass of bubble sort; if the second is significantly better than the best
//         one, it becomes the best: baseline and candidates start over, and its union with each of the
//         hypotheses after the second becomes a candidate
//     stop here if the best hypothesis predicts this effect with certainty
//     every predicate that holds for the target, or an object around it, becomes a candidate
//     count the effect in every candidate; one that is significantly better than the baseline is promoted
//         to a hypothesis, and its union with the best hypothesis becomes a candidate
//
// The best hypothesis predicts. Nothing is ever deleted. "Significantly better": the Wilson intervals of
// the expected number of correct predictions do not overlap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "qora/case_table.hpp"
#include "qora/conditions.hpp"
#include "serialize.hpp"

namespace treethink::qora {

/// What all predictors hold together. Everyone who adds something counts it here.
struct MemoryUse {
    std::uint64_t bytes = 0;  // approximate
    std::uint64_t hypotheses = 0;
    std::uint64_t candidates = 0;
    std::uint64_t conditions = 0;  // hypotheses and candidates
    std::uint64_t max_bytes = 0;
    bool exhausted = false;  // a condition was not made because of max_bytes
};

/// What a predictor needs to observe one target.
struct ObservationContext {
    TargetFacts& facts;
    Predicates& predicates;
    Evaluator& evaluator;
    double z;  // quantile for Wilson intervals
    MemoryUse& memory;
};

class Predictor {
public:
    /// A condition and its counts.
    struct CountedCondition {
        std::size_t first;     // position of its first predicate in predicates_
        std::uint32_t length;  // number of predicates
        Interval interval;     // success rate; of hypotheses only
        CaseTable table;
    };

    /// Adds its own size to `memory`.
    explicit Predictor(MemoryUse& memory);

    void observe(ObservationContext& context, VectorView effect);

    /// How often each effect followed in the case of a target, by effect. Empty: that case is new.
    [[nodiscard]] std::vector<std::uint64_t> effect_counts(FactsOfConditions const& facts, Evaluator& evaluator) const;

    /// In the order in which they were first observed.
    [[nodiscard]] std::vector<Vector> const& effects() const { return effects_; }
    /// The effects without any condition: one case.
    [[nodiscard]] CaseTable const& baseline() const { return baseline_; }
    /// Positions of conditions; the best hypothesis comes first, the others are roughly in order.
    [[nodiscard]] std::vector<std::uint32_t> const& hypotheses() const { return hypotheses_; }
    [[nodiscard]] std::vector<std::uint32_t> const& candidates() const { return candidates_; }
    [[nodiscard]] CountedCondition const& counted(std::uint32_t at) const { return conditions_[at]; }
    [[nodiscard]] Condition condition(std::uint32_t at) const {
        return std::span(predicates_).subspan(conditions_[at].first, conditions_[at].length);
    }

    void save(Writer& out, Predicates const& predicates) const;
    struct LoadContext {
        Schema const& schema;
        ClassId target_class;
        std::size_t effect_length;
        Predicates const& predicates;
        double z;
        MemoryUse& memory;
    };
    /// Only for a predictor that has observed nothing yet. Throws ModelFileError.
    void load(Reader& in, LoadContext const& context);

private:
    [[nodiscard]] std::size_t effect_index(VectorView effect, MemoryUse& memory);
    void count(std::uint32_t at, ObservationContext& context, std::size_t effect);
    void reset(CaseTable& table, MemoryUse& memory);
    void reset_all(MemoryUse& memory);
    /// One pass of bubble sort over all hypotheses but the best one.
    void bubble_up_once();
    void replace_best_hypothesis(ObservationContext& context);
    [[nodiscard]] bool best_is_certain(ObservationContext& context, std::size_t effect) const;
    void add_candidates(ObservationContext& context);
    void test_candidates(ObservationContext& context, std::size_t effect);
    void promote(std::uint32_t at, ObservationContext& context);
    void make_union(std::uint32_t a, std::uint32_t b, ObservationContext& context);
    /// Adds a condition as a candidate, unless it exists or memory is exhausted.
    void add_if_new(Condition condition, Predicates const& predicates, MemoryUse& memory);
    [[nodiscard]] bool has(Condition condition) const;
    void add(Condition condition, Predicates const& predicates, MemoryUse& memory);
    template <class Use>
    auto with_key(std::uint32_t at, auto const& facts, Evaluator& evaluator, Use&& use) const;

    void load_conditions(Reader& in, LoadContext const& context);
    void load_table(Reader& in, LoadContext const& context, std::uint32_t at);
    void load_lists(Reader& in, LoadContext const& context);

    std::vector<Vector> effects_;
    CaseTable baseline_;
    std::vector<CountedCondition> conditions_;            // every condition ever made, in order of creation
    std::vector<PredicateId> predicates_;                 // of all conditions, one after the other
    HashIndex index_;                                     // finds conditions
    std::vector<std::uint32_t> hypotheses_, candidates_;  // positions of conditions
    std::vector<PredicateId> union_;                      // working memory of make_union
};

}  // namespace treethink::qora
