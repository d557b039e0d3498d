#include "looks/second_look.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "learning/replay.hpp"
#include "learning/selection.hpp"
#include "looks/kept_tests.hpp"

namespace treethink {

namespace {

// Less than this is not worth a look; in Log units, as are the scores of criteria that look ahead.
constexpr double min_loss_of_test = 8 * static_cast<double>(units_per_nat);
// For each max_look_targets, or a part of them.
constexpr LookBudget groundings_of_test{1 << 12, 1 << 14};
// Of tests about any other object, a grounding is one of the pairs of an object and another: there are more.
constexpr LookBudget groundings_of_any{1 << 14, 1 << 16};
static_assert((groundings_of_test.left + groundings_of_any.left) * (max_targets_of_branch / max_look_targets) <=
              Tree::max_work_of_look);
// Part of what the tests below a branch explain that a challenger must make up for, as in tree.cpp.
constexpr double share_to_make_up = 1.0 / 16;
// Other outcomes are rare if they are at most one in so many.
constexpr std::uint64_t rare_share = 16;

// Whether a node has counted far more than a look would see. Where one outcome came much more often than all others, as
// that of all objects that an action is not about, the others say how much it knows.
bool knows_more(NodeStats const& stats) {
    if (stats.n <= 2 * max_look_targets) return false;
    std::uint64_t const others = stats.n - *std::max_element(stats.totals.begin(), stats.totals.end());
    return others > max_targets_of_branch / 2 || others * rare_share > stats.n;
}

/// Of two tests whose net scores are equal: the higher score, then canonical order.
bool is_better(std::vector<FactType> const& types, std::size_t variables, ScoredTest const& a, ScoredTest const& b) {
    if (a.net_score != b.net_score) return a.net_score > b.net_score;
    if (a.score != b.score) return a.score > b.score;
    return canonical_order(types, variables, a.test, b.test) < 0;
}

}  // namespace

// The best test of a kind that is not counted, for a node whose variables have these classes.
std::optional<ScoredTest> SecondLook::best_uncounted_test(std::vector<ClassId> const& classes,
                                                          std::span<KeptTarget const> targets,
                                                          LookSample const& sample) {
    std::vector<FactType> const& types = context_.codes.types();
    std::vector<KeptTest> tests;
    std::uint64_t const times = (targets.size() + max_look_targets - 1) / max_look_targets;
    std::vector<Pattern> const all = patterns(types, classes);
    for (bool const of_any : {false, true}) {
        LookBudget const& most = of_any ? groundings_of_any : groundings_of_test;
        LookBudget budget{times * most.of_pattern, times * most.left};
        std::vector<Pattern> uncounted;
        std::copy_if(all.begin(), all.end(), std::back_inserter(uncounted), [&](Pattern const& each) {
            return !types[each.type].counted && types[each.type].of_any == of_any;
        });
        append_tests(types, classes, uncounted, targets, std::array{&budget}, tests);
        tree_.note_look_work(times * most.left - budget.left, false);
    }
    std::optional<ScoredTest> best;
    std::vector<Count> counts;
    for (KeptTest& each : tests) {
        sample.count(each.holds, counts);
        double const score = context_.criterion.score(counts, sample.sample());
        double const net = score - static_cast<double>(each.description_length);
        if (best && net < best->net_score) continue;
        ScoredTest scored{std::move(each.test), each.description_length, net, score};
        if (!best || is_better(types, classes.size(), scored, *best)) best = std::move(scored);
    }
    return best;
}

// ---- nodes ----

double SecondLook::threshold(NodeId at, std::vector<Count> const& counts, Sample const& sample) const {
    Criterion const& criterion = context_.criterion;
    Node const& node = tree_.nodes_[at];
    double const score = criterion.score(counts, sample);
    if (node.is_leaf()) return criterion.threshold(counts, sample, score);
    double const net = score - static_cast<double>(length_of_test(context_.codes, node));
    auto const targets = std::accumulate(sample.totals.begin(), sample.totals.end(), std::uint64_t{0});
    double const below = criterion.explained_below(context_.codes, tree_.nodes_, at) * static_cast<double>(targets) /
                         static_cast<double>(node.stats.n);
    return criterion.threshold(counts, sample, net) + share_to_make_up * below;
}

bool SecondLook::is_worth_while(NodeId at) const {
    Node const& node = tree_.nodes_[at];
    NodeStats const& stats = node.stats;
    if (context_.codes.types().size() == context_.codes.counted_types()) return false;
    bool const fixed = node.edits.pinned || node.edits.hand_written || node.edits.held || node.settled;
    bool const full = node.depth >= max_depth || node.variable_classes.size() >= max_variables;
    if (fixed || full || stats.is_pure() || !node.candidates.are_counted()) return false;
    if (stats.n < node.next_look) return false;
    if (!node.is_leaf() && knows_more(stats)) return false;
    std::vector<Count> counts(stats.totals.size(), 0);
    if (!node.is_leaf()) read_test_counts(node, counts);
    Sample const sample{stats.totals, stats.current_design_effect()};
    return threshold(at, counts, sample) <= -min_loss_of_test;
}

bool SecondLook::decide(NodeId at, std::span<KeptTarget const> targets) {
    if (targets.empty()) return false;
    Node const& node = tree_.nodes_[at];
    LookSample const sample(targets, node.stats.current_design_effect());
    auto best = best_uncounted_test(node.variable_classes, targets, sample);
    if (!best) return false;
    std::vector<Count> counts;
    if (!node.is_leaf()) sample.count(where_holds(node, node.test, targets), counts);
    counts.resize(sample.outcomes(), 0);
    double const to_beat = threshold(at, counts, sample.sample());
    if (!context_.criterion.surely_better(best->net_score, to_beat, sample.size())) return false;
    if (best->net_score <= score_of_candidate(node, targets, sample)) return false;
    tree_.note_look_work(0, true);
    set_test(at, std::move(*best));
    return true;
}

// What the best candidate of the node is worth in the sample: if that is more, it will soon be surely better, too.
double SecondLook::score_of_candidate(Node const& node, std::span<KeptTarget const> targets, LookSample const& sample) {
    auto const best = best_candidate(context_, node, {node.stats.totals, node.stats.current_design_effect()});
    if (!best) return -std::numeric_limits<double>::infinity();
    auto const& [block, code] = best->candidate;
    std::vector<Count> counts;
    sample.count(where_holds(node, test_of(context_.codes, node, best->candidate), targets), counts);
    return context_.criterion.score(counts, sample.sample()) -
           static_cast<double>(description_length(context_.codes, node.candidates.table()[block], code));
}

// For which targets a test of the node holds.
TargetSet SecondLook::where_holds(Node const& node, Test const& test, std::span<KeptTarget const> targets) const {
    TargetSet holds(targets.size());
    Bindings extended;
    FactType const& type = context_.codes.types()[test.type];
    for (std::size_t t = 0; t < targets.size(); ++t) {
        extend(FactsOnDemand(*targets[t].before), type, test, node.variable_classes, targets[t].bindings, extended);
        if (extended.size() > 0) holds.set(t);
    }
    return holds;
}

// set_test(node, test):
//     drop everything below the node, and what it has counted
//     the node asks `test` from now on; it and its new children count what is kept
void SecondLook::set_test(NodeId at, ScoredTest best) {
    std::vector<FactType> const& types = context_.codes.types();
    Decision const kind = tree_.nodes_[at].is_leaf() ? Decision::split : Decision::change;
    tree_.remove_children(at);
    Node& node = tree_.nodes_[at];
    node.test = std::move(best.test);
    node.test_candidate = {*find_block(types, node.variable_classes, node.test), no_code};
    node.uncounted_test = {std::vector<Count>(node.stats.totals.size(), 0), best.description_length};
    node.stats = {};
    node.fit_outcomes(tree_.outcomes_.size());
    node.candidates.stop();
    tree_.count_candidates(at, types);
    tree_.add_children(at, types);
    for (NodeId const child : {tree_.nodes_[at].left, tree_.nodes_[at].right}) {
        tree_.count_candidates(child, types);
        TreeReplay(tree_).add(child);
    }
    TreeReplay(tree_).add(at);
    context_.criterion.update_settled(tree_.nodes_);
    tree_.record_event(context_, at, kind);
}

}  // namespace treethink
