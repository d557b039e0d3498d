#include "looks/fresh_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "learning/replay.hpp"

namespace treethink {

namespace {

constexpr std::uint64_t min_transitions_of_fresh = 32;
constexpr std::size_t phases = 16;
// A fresh tree is grown so often.
constexpr std::size_t max_rounds = 3;
// Each time.
constexpr LookBudget groundings_of_fresh{1 << 14, 1 << 16};

}  // namespace

bool FreshTree::is_due(std::uint64_t transitions, std::size_t phase) {
    if (transitions < min_transitions_of_fresh) return false;
    auto const turn = [&](std::uint64_t n) { return std::bit_width(n * (phases + phase % phases) / phases); };
    return turn(transitions) != turn(transitions - 1);
}

bool FreshTree::is_worth_while(Tree const& tree) {
    if (!tree.varies() || tree.awaits_replay() || tree.is_edited()) return false;
    if (tree.outcomes().has_others() || tree.frame().jumps) return false;  // what a target had depends on the tree
    Node const& root = tree.nodes()[kRoot];
    // To tell outcomes apart takes one test less than there are outcomes: a tree with hardly more has few to spare.
    auto const outcomes = std::count_if(tree.seen().begin(), tree.seen().end(), [](auto seen) { return seen > 0; });
    std::size_t const tests = tree.size() / 2;
    return root.settled && !root.edits.held && tests > static_cast<std::size_t>(outcomes) && tests <= max_tests;
}

// ---- what is compared ----

void FreshTree::add(State const& before, State const& after, std::span<Tree::Target const> targets) {
    ++transitions_;
    Bindings bindings, extended;
    for (Tree::Target const& target : targets) {
        Row const row = target.arguments.empty() ? Row{0} : target.arguments.front();
        ComparedTarget each{&before, row,  target.outcome, hash_of_target(tree_, transitions_, before, after, target),
                            kRoot,   kRoot};
        set_arguments(each, bindings);
        each.part =
            narrow(tree_.nodes_, FactsOnDemand(before), context_.codes.types(), bindings, extended, [](Node const&) {});
        targets_.push_back(each);
    }
}

void FreshTree::set_arguments(ComparedTarget const& target, Bindings& bindings) const {
    bindings.width = tree_.arguments_.size();
    bindings.rows.assign(bindings.width, target.row);
}

// Of each part an equal share, drawn by their hashes. If the parts are too many, there is none.
std::vector<KeptTarget> FreshTree::sample() const {
    std::map<std::size_t, std::size_t> left;  // to take, by part
    for (ComparedTarget const& each : targets_) left[each.part] = 0;
    for (auto& [part, share] : left) share = max_sampled / left.size();
    std::vector<KeptTarget> sample;
    for (ComparedTarget const& each : targets_) {
        if (left[each.part] == 0) continue;
        --left[each.part];
        sample.push_back({each.before, each.before, 0, {}, each.outcome});
        set_arguments(each, sample.back().bindings);
    }
    return sample;
}

// ---- growing ----

// What has been forgotten may speak for the old tree.
//
// find():
//     if all is kept that the rule has learned from: the parts are the leaves of the old tree
//     some times: grow a tree over a sample of all parts; if it does not explain all, what its leaves mix are parts
bool FreshTree::find() {
    if (targets_.size() > max_compared || transitions_ < tree_.transitions()) return false;
    std::stable_sort(targets_.begin(), targets_.end(), [](auto& a, auto& b) { return a.hash < b.hash; });
    length_of_old_ = length_of_old();
    for (std::size_t round = 0; round < max_rounds; ++round) {
        if (!grow()) return false;
        if (explains_all()) return true;
        divide_parts();
    }
    return false;
}

void FreshTree::divide_parts() {
    std::map<std::pair<std::size_t, NodeId>, std::size_t> parts;
    for (ComparedTarget& each : targets_)
        each.part = parts.emplace(std::pair{each.part, each.fresh_leaf}, parts.size()).first->second;
}

bool FreshTree::grow() {
    budget_ = groundings_of_fresh;
    length_ = 0;
    nodes_.assign(1, {tree_.arguments_});
    std::vector<KeptTarget> const targets = sample();
    return !targets.empty() && grow_below(kRoot, targets);
}

// grow_below(node, targets):
//     if their outcomes differ: ask the best test, and go on in both halves
// Returns whether the tests explain the sample, and surely are shorter than those of the old tree.
bool FreshTree::grow_below(NodeId at, std::vector<KeptTarget> const& targets) {
    auto const differs = [&](KeptTarget const& each) { return each.outcome != targets.front().outcome; };
    if (std::none_of(targets.begin(), targets.end(), differs)) return true;
    TargetSet holds(targets.size());
    if (!find_test(nodes_[at], targets, holds)) return false;
    length_ += nodes_[at].description_length;
    if (!is_shorter(length_) || nodes_.size() + 2 > 2 * max_tests + 1) return false;
    FactType const& type = context_.codes.types()[nodes_[at].test.type];
    std::vector<ClassId> const classes = nodes_[at].variable_classes;
    std::vector<KeptTarget> held, failed;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        if (!holds[t]) {
            failed.push_back(targets[t]);
            continue;
        }
        held.push_back({targets[t].before, targets[t].after, 0, {}, targets[t].outcome});
        extend(FactsOnDemand(*targets[t].before), type, nodes_[at].test, classes, targets[t].bindings,
               held.back().bindings);
    }
    auto const left = static_cast<NodeId>(nodes_.size());
    nodes_[at].left = left;
    nodes_[at].right = left + 1;
    nodes_.push_back({extended_classes(type, nodes_[at].test, classes)});
    nodes_.push_back({classes});
    return grow_below(left, held) && grow_below(left + 1, failed);
}

// The best test for these targets, if it is surely better than none; of equals, the one with the higher score, then
// the preferred.
bool FreshTree::find_test(FreshNode& node, std::vector<KeptTarget> const& targets, TargetSet& holds) {
    LookSample const sample(targets, 1);
    std::vector<FactType> const& types = context_.codes.types();
    std::vector<ClassId> const& classes = node.variable_classes;
    Sample const of_all{sample.sample().totals, 1, tree_.outcomes_.size()};
    std::vector<Count> counts(sample.outcomes(), 0);
    double const none = context_.criterion.score(counts, of_all);
    std::vector<KeptTest> tests;
    append_tests(types, classes, patterns(types, classes), targets, std::array{&budget_}, tests);
    KeptTest const* best = nullptr;
    std::pair<double, double> best_worth;
    for (KeptTest const& each : tests) {
        sample.count(each.holds, counts);
        double const score = context_.criterion.score(counts, of_all);
        std::pair const worth{score - static_cast<double>(each.description_length), score};
        bool const is_better =
            best == nullptr || worth > best_worth ||
            (worth == best_worth && canonical_order(types, classes.size(), each.test, best->test) < 0);
        if (is_better) std::tie(best, best_worth) = std::pair{&each, worth};
    }
    if (best == nullptr || !context_.criterion.surely_better(best_worth.first, none, targets.size())) return false;
    node.test = best->test;
    node.description_length = best->description_length;
    holds = best->holds;
    return true;
}

// ---- comparing ----

Log FreshTree::length_of_old() const {
    Log length = 0;
    for (NodeId const at : subtree(tree_.nodes_, kRoot))
        if (!tree_.nodes_[at].is_leaf()) length += length_of_test(context_.codes, tree_.nodes_[at]);
    return length;
}

// By ln(1 / alpha).
bool FreshTree::is_shorter(Log length) const {
    return context_.criterion.surely_better(static_cast<double>(-length), static_cast<double>(-length_of_old_),
                                            targets_.size());
}

// Whether all targets that reach a leaf had the same outcome.
bool FreshTree::explains_all() {
    Bindings bindings, extended;
    std::vector<std::optional<std::uint32_t>> outcome_of(nodes_.size());
    bool explains = true;
    for (ComparedTarget& each : targets_) {
        set_arguments(each, bindings);
        each.fresh_leaf = narrow(nodes_, FactsOnDemand(*each.before), context_.codes.types(), bindings, extended,
                                 [](FreshNode const&) {});
        auto& outcome = outcome_of[each.fresh_leaf];
        if (!outcome) outcome = each.outcome;
        explains = explains && outcome == each.outcome;
    }
    return explains;
}

// ---- planting ----

void FreshTree::plant() {
    tree_.awaiting_look_.clear();
    tree_.remove_children(kRoot);
    plant_at(kRoot, kRoot);
    context_.criterion.update_settled(tree_.nodes_);
    for (NodeId const at : tree_.preorder())
        if (!tree_.nodes_[at].is_leaf())
            tree_.record_event(context_, at, at == kRoot ? Decision::change : Decision::split);
}

// All nodes count what is kept, and how often their tests held, too: those that can be candidates become some then.
void FreshTree::plant_at(NodeId at, NodeId from) {
    std::vector<FactType> const& types = context_.codes.types();
    FreshNode const& fresh = nodes_[from];
    Node& node = tree_.nodes_[at];
    node.stats = {};
    node.fit_outcomes(tree_.outcomes_.size());
    node.candidates.stop();
    tree_.count_candidates(at, types);
    TreeReplay(tree_).add(at);
    if (fresh.is_leaf()) return;
    node.test = fresh.test;
    node.test_candidate = {*find_block(types, node.variable_classes, node.test), no_code};
    node.uncounted_test = {std::vector<Count>(node.stats.totals.size(), 0), fresh.description_length};
    tree_.add_children(at, types);
    NodeId const left = tree_.nodes_[at].left, right = tree_.nodes_[at].right;
    plant_at(left, fresh.left);
    plant_at(right, fresh.right);
}

}  // namespace treethink
