#include "looks/rule_sketch.hpp"

#include <algorithm>
#include <array>

namespace treethink {

namespace {

constexpr LookBudget groundings{1 << 14, 1 << 15};
constexpr std::size_t max_tests = 256, max_sketch_depth = 8;

}  // namespace

RuleSketch::RuleSketch(LearningContext const& context, std::vector<ClassId> const& arguments,
                       std::span<KeptTarget const> targets, std::uint64_t design_effect)
    : context_(context), design_effect_(design_effect) {
    LookBudget budget = groundings;
    std::vector<FactType> const& types = context.codes.types();
    append_tests(types, arguments, patterns(types, arguments), targets, std::array{&budget}, tests_);
    sort_by_length(types, arguments.size(), tests_);
    if (tests_.size() > max_tests) tests_.resize(max_tests);
    all_ = TargetSet::all(targets.size());
}

double RuleSketch::length(std::span<std::uint32_t const> outcomes, std::span<Log const> lengths) {
    Log length = 0;
    for (Log const each : lengths) length += each;
    return static_cast<double>(length) + grow(LookSample(outcomes, design_effect_), all_, 0);
}

// grow(targets):
//     if the best test is surely better than none:
//         its length, and the lengths of both halves
//     else what is left unexplained
double RuleSketch::grow(LookSample const& sample, TargetSet const& targets, std::size_t depth) {
    std::vector<Count> totals, counts, of_test;
    sample.count(targets, totals);
    Sample const half{totals, design_effect_, sample.outcomes()};
    counts.assign(totals.size(), 0);
    double const none = context_.criterion.score(counts, half);
    if (depth == max_sketch_depth || !context_.criterion.surely_better(0, none, targets.count())) return -none;
    std::size_t const n = tests_.size();
    counts.resize(totals.size() * n);
    for (std::size_t i = 0; i < n; ++i) {
        sample.count(targets & tests_[i].holds, of_test);
        for (std::size_t y = 0; y < totals.size(); ++y) counts[y * n + i] = of_test[y];
    }
    std::vector<double> scores;
    context_.criterion.scores(counts.data(), n, n, half, scores);
    for (std::size_t i = 0; i < n; ++i) scores[i] -= static_cast<double>(tests_[i].description_length);
    auto const best = std::max_element(scores.begin(), scores.end());  // of equals, the first
    if (best == scores.end() || !context_.criterion.surely_better(*best, none, targets.count())) return -none;
    KeptTest const& test = tests_[static_cast<std::size_t>(best - scores.begin())];
    return static_cast<double>(test.description_length) + grow(sample, targets & test.holds, depth + 1) +
           grow(sample, targets - test.holds, depth + 1);
}

}  // namespace treethink
