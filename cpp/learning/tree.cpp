// tree.cpp - TreeLearn: observe, decide_leaf, decide_branch, set_test.
//
// The paper's names (Appendix A) stand beside the pseudocode above each function.
#include "learning/tree.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include "learning/replay.hpp"
#include "learning/selection.hpp"

namespace treethink {

namespace {

// Part of what the tests below a branch explain (Criterion::explained_below) that a challenger must make up for.
constexpr double share_to_make_up = 1.0 / 16;

// Whether a leaf has nothing to explain, or no room to explain it in.
bool must_stay_leaf(Node const& leaf) {
    return leaf.depth >= max_depth || leaf.variable_classes.size() >= max_variables || leaf.stats.is_pure();
}

bool beats(LearningContext& context, Node const& node, std::optional<BestCandidate> const& best, double threshold) {
    return best && context.criterion.surely_better(best->score, threshold, node.stats.n);
}

// Whether some candidate might beat the threshold. Candidates are scored only then: an observation adds at most
// max_gain() to any score, so the best score at the last check gives a bound on all of them.
bool may_be_beaten(LearningContext& context, Node const& node, double threshold) {
    Criterion const& criterion = context.criterion;
    double const bound = node.stats.score_bound + criterion.rounding_slack();
    bool const may = criterion.surely_better(bound, threshold, node.stats.n);
    assert(may || !beats(context, node, best_candidate(context, node), threshold));
    return may;
}

// Scores all candidates, remembers the best score as the bound, and returns the best candidate if it is surely better
// than the threshold (the paper's updateTests, second half).
std::optional<CandidateId> find_winner(LearningContext& context, Node& node, double no_test, double threshold) {
    auto const best = best_candidate(context, node);
    node.stats.score_bound = best ? std::max(best->score, no_test) : no_test;
    return beats(context, node, best, threshold) ? std::optional(best->candidate) : std::nullopt;
}

}  // namespace

// ---- observe ----

void Tree::add_outcomes(std::vector<Vector> outcomes) {
    std::sort(outcomes.begin(), outcomes.end());
    for (Vector& outcome : outcomes)
        if (!outcomes_.find(outcome)) outcomes_.add(std::move(outcome));
    seen_.resize(outcomes_.size(), 0);
    for (Node& node : nodes_) node.fit_outcomes(outcomes_.size());
}

void Tree::add_outcomes(LearningContext& context, std::vector<Vector> outcomes) {
    std::sort(outcomes.begin(), outcomes.end());
    outcomes.erase(std::unique(outcomes.begin(), outcomes.end()), outcomes.end());
    std::size_t const max = context.settings.max_outcomes;
    std::size_t const room = outcomes_.size() < max ? max - outcomes_.size() : 0;
    if (outcomes.size() <= room) return add_outcomes(std::move(outcomes));
    outcomes.resize(room);
    add_outcomes(std::move(outcomes));
    merge_rare_outcomes();
    context.criterion.update_settled(nodes_);
    context.events.push_back({Decision::noise, "", std::nullopt, arguments_.size()});
}

// What came more than once, came most often, or was named by people, is still told apart.
void Tree::merge_rare_outcomes() {
    std::vector<bool> stays(outcomes_.size(), false);
    for (std::size_t y = 0; y < stays.size(); ++y) stays[y] = seen_[y] > 1;
    for (Node const& node : nodes_)
        for (std::size_t y = 0; y < node.edits.prior_counts.size(); ++y)
            if (node.edits.prior_counts[y] > 0) stays[y] = true;
    stays[static_cast<std::size_t>(std::max_element(seen_.begin(), seen_.end()) - seen_.begin())] = true;

    Outcomes const old = std::exchange(outcomes_, {});
    for (std::size_t y = 0; y < old.size(); ++y)
        if (stays[y]) outcomes_.add(old.values()[y]);
    outcomes_.add_others();
    std::vector<std::uint32_t> new_place;  // by old position
    for (Vector const& outcome : old.values()) new_place.push_back(*outcomes_.find_or_others(outcome));
    std::vector<std::uint64_t> const seen = std::exchange(seen_, std::vector<std::uint64_t>(outcomes_.size(), 0));
    for (std::size_t y = 0; y < seen.size(); ++y) seen_[new_place[y]] += seen[y];
    for (Node& node : nodes_) node.merge_outcomes(new_place, outcomes_.size());
}

void Tree::observe_constant(std::uint64_t n) {
    ++transitions_;
    seen_.front() += n;
}

// observe(targets):                                            paper: observe
//     while only one outcome was ever seen: there is no tree
//     for each target: count it from the root down             observeRecursive: addPredicates, updateTests
//     for each node reached: forget candidates beyond the limit
//     for each node reached, from the root down: decide        observeRecursive: updateNodeType, resetBranch
void Tree::observe(LearningContext& context, std::span<Target const> targets) {
    ++transitions_;
    for (Target const& target : targets) ++seen_[target.outcome];
    if (!varies()) {
        if (outcomes_.size() < 2) return;
        count_candidates(add_node(kNoNode, VariableClasses(arguments_)), context.codes.types());
        if (context.settings.memory > 0) return TreeReplay(*this).add(kRoot);  // this transition will be replayed
    }
    ++stamp_;
    NodeShare const share = node_share(context);
    count_targets(context, targets, share);
    for (Node& node : nodes_)
        if (node.last_reached == transitions_) forgotten_ += forget_candidates(context, node, size(), share);
    if (!nodes_[kRoot].settled) decide(context);
}

NodeShare Tree::node_share(LearningContext const& context) const {
    std::uint64_t const most = outcomes_.has_others() ? context.settings.max_outcomes : 0;
    return share_of_node(context, size(), std::max<std::uint64_t>(most, outcomes_.size()));
}

// count_targets(targets):                                      paper: observeRecursive
//     for each target, with all bindings that arrive:
//         at every node from the root to its leaf:
//             add one to each candidate that is true           addPredicates, updateTests
//             go left with all bindings that extend, or right  checkBranch
// Pinned nodes do not learn, and settled branches learn only what is not explained below them.
void Tree::count_targets(LearningContext& context, std::span<Target const> targets, NodeShare const& share) {
    auto& settled_leaves = context.scratch.settled_leaves;
    settled_leaves.clear();
    bool const in_crowd = targets.size() >= min_group;
    for (Target const& target : targets) {
        bool settled = false;
        NodeId const leaf = count_on_way(context, target, in_crowd, share, [&](Node& node) {
            node.last_reached = transitions_;
            settled |= node.settled;
            if (node.edits.pinned && node.is_leaf()) ++node.edits.seen_since_pinned[target.outcome];
            return !node.settled && !node.edits.pinned;
        });
        settled_leaves.push_back(settled ? leaf : kNoNode);
    }
    count_groups(context, share);
    count_unexplained(context, targets, share);
}

// A group is what a node counts of one transition; a target with several bindings, or one that may be the last which
// the node counts, is none of it.
bool Tree::add_to_group(LearningContext& context, Node const& node, std::uint32_t outcome) const {
    Scratch& scratch = context.scratch;
    if (scratch.bindings.size() != 1 || node.stats.n >= max_counted / 2) return false;
    auto const at = static_cast<NodeId>(&node - nodes_.data());
    scratch.members.push_back({at, outcome, scratch.member_rows.size()});
    auto const rows = scratch.bindings[0];
    scratch.member_rows.insert(scratch.member_rows.end(), rows.begin(), rows.end());
    return true;
}

void Tree::count_groups(LearningContext& context, NodeShare const& share) {
    Scratch& scratch = context.scratch;
    auto& members = scratch.members;
    std::sort(members.begin(), members.end(), [](GroupMember const& a, GroupMember const& b) {
        return a.node != b.node ? a.node < b.node : a.binding < b.binding;
    });
    for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
        Node& node = nodes_[members[begin].node];
        while (end < members.size() && members[end].node == members[begin].node) ++end;
        scratch.bindings.width = node.variable_classes.size();
        std::span const group = std::span<GroupMember const>(members).subspan(begin, end - begin);
        if (group.size() >= min_group) {
            count_group(context, node, group, counting_time(), share);
            continue;
        }
        for (GroupMember const& each : group) {
            take_binding(scratch, each);
            count_target(context, node, each.outcome, counting_time(), share);
        }
    }
    members.clear();
    scratch.member_rows.clear();
}

// Settled branches count the targets that their leaves do not explain, once all targets have been counted there.
void Tree::count_unexplained(LearningContext& context, std::span<Target const> targets, NodeShare const& share) {
    auto const& settled_leaves = context.scratch.settled_leaves;
    bool unexplained = false;
    bool const in_crowd = targets.size() >= min_group;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (settled_leaves[i] == kNoNode) continue;
        Node const& leaf = nodes_[settled_leaves[i]];
        if (leaf.edits.pinned || leaf.stats.is_pure()) continue;
        unexplained = true;
        count_on_way(context, targets[i], in_crowd, share,
                     [](Node const& node) { return node.settled && !node.edits.pinned; });
    }
    count_groups(context, share);
    if (unexplained) context.criterion.update_settled(nodes_);
}

// ---- decide ----

// decide():                                                    paper: observeRecursive
//     for each node reached, from the root down, but not below a node that has changed:
//         decide_leaf or decide_branch
void Tree::decide(LearningContext& context) {
    auto& open = context.scratch.open;
    open.assign(1, kRoot);
    while (!open.empty()) {
        NodeId const at = open.back();
        open.pop_back();
        if (nodes_[at].last_reached != transitions_ || nodes_[at].settled) continue;
        if (nodes_[at].is_leaf()) {
            decide_leaf(context, at);
        } else if (!decide_branch(context, at)) {
            open.push_back(nodes_[at].right);
            open.push_back(nodes_[at].left);
        }
    }
}

// ---- looks at what is kept (looks/) ----

namespace {

// How large a loss is, in steps of about a half: 1, 2, 3, 4, 6, 8, 12, 16, ... nats.
std::uint64_t look_level(Log loss) {
    auto const nats = static_cast<std::uint64_t>(loss / units_per_nat);
    if (nats < 2) return nats;
    auto const width = static_cast<std::uint64_t>(std::bit_width(nats));
    return 2 * width - 2 + (nats >> (width - 2) & 1);
}

}  // namespace

// A branch that was checked, and a leaf whose check has changed nothing, are looked at if their loss has doubled
// since the check before; a leaf, when it has grown by half. So what is unexpected leads to a look soon.
void Tree::note_look(LearningContext const& context, NodeId at, Log loss_before) {
    Log const loss = nodes_[at].stats.last_checked_loss;
    std::uint64_t const step = nodes_[at].is_leaf() ? 1 : 2;  // levels
    if (look_level(loss_before) / step == look_level(loss) / step || !context.takes_looks()) return;
    awaiting_look_.push_back({at, loss_before > 0 || continues_look_ahead(context, at)});
}

// Whether a new leaf is below a test that explains nothing by itself: what goes with it may take another look.
bool Tree::continues_look_ahead(LearningContext const& context, NodeId leaf) const {
    if (leaf == kRoot || !nodes_[leaf].is_leaf()) return false;
    Node const& parent = nodes_[nodes_[leaf].parent];
    if (!parent.candidates.are_counted()) return false;
    // Not the design effect of its last check, which files do not have.
    Sample const sample{parent.stats.totals, parent.stats.current_design_effect()};
    std::vector<Count> counts(sample.totals.size(), 0);
    double const no_test = context.criterion.score(counts, sample);
    read_test_counts(parent, counts);
    double const test = context.criterion.score(counts, sample);
    double const net = test - static_cast<double>(length_of_test(context.codes, parent));
    return !context.criterion.surely_better(net, no_test, parent.stats.n);
}

std::vector<Tree::AwaitedLook> Tree::take_looks() {
    std::vector<AwaitedLook> const waiting = std::exchange(awaiting_look_, {});
    std::vector<AwaitedLook> looks;
    for (NodeId const at : preorder()) {
        auto const is_for = [&](AwaitedLook const& each) { return each.node == at; };
        if (std::none_of(waiting.begin(), waiting.end(), is_for)) continue;
        bool const ahead = std::any_of(waiting.begin(), waiting.end(),
                                       [&](AwaitedLook const& each) { return each.node == at && each.ahead; });
        looks.push_back({at, ahead});
    }
    return looks;
}

// Counts have refuted the test that a look had found in a sample. Without a pause, the two would replace each other's
// tests in every transition.
void Tree::defer_look(Node& node) {
    if (node.uncounted_test.in_place()) node.next_look = 2 * std::max(node.stats.n, node.next_look);
}

// A leaf that splits is, and with it all nodes above whose tests are about an attribute of its own test: it may be that
// they say value by value what could be said at once.
void Tree::note_looks(LearningContext const& context, NodeId split_leaf) {
    if (!context.takes_looks()) return;
    std::vector<FactType> const& types = context.codes.types();
    FactType const& own = types[nodes_[split_leaf].test.type];
    auto const has = [](FactType const& type, AttributeId attribute) {
        return type.attributes[0] == attribute || (type.terms == 2 && type.attributes[1] == attribute);
    };
    for (NodeId at = split_leaf; at != kNoNode; at = nodes_[at].parent) {
        FactType const& type = types[nodes_[at].test.type];
        if (has(type, own.attributes[0]) || (own.terms == 2 && has(type, own.attributes[1])))
            awaiting_look_.push_back({at, false});
    }
}

// decide_leaf(leaf):                                           paper: updateNodeType, of a leaf
//     if the best candidate is surely better than no test:
//         set_test(leaf, best candidate)                       convertToBranch
void Tree::decide_leaf(LearningContext& context, NodeId at) {
    Node& leaf = nodes_[at];
    Log const loss_before = leaf.stats.last_checked_loss;
    if (leaf.edits.pinned || must_stay_leaf(leaf) || !context.criterion.is_check_due(leaf.stats)) return;
    NodeScores const scores = score_node(context, leaf);
    std::optional<CandidateId> winner;
    if (may_be_beaten(context, leaf, scores.threshold))
        winner = find_winner(context, leaf, scores.no_test, scores.threshold);
    if (!winner) return note_look(context, at, loss_before);
    set_test(context, at, *winner, Decision::split);
    note_looks(context, at);
}

// decide_branch(branch):                                       paper: updateTests, updateNodeType, of a branch
//     if the best other candidate is surely better than the test in place:
//         set_test(branch, best candidate)                     resetBranch
//     else if the test in place is not worth keeping:
//         make_leaf(branch)                                    convertToLeaf
// What the tests below explain counts for the test in place. Returns whether the branch has changed.
bool Tree::decide_branch(LearningContext& context, NodeId at) {
    Criterion const& criterion = context.criterion;
    Node& branch = nodes_[at];
    std::uint64_t const n = branch.stats.n;
    if (branch.settled || branch.edits.held || !context.settings.branch_updates) return false;
    Log const loss_before = branch.stats.last_checked_loss;
    if (!criterion.is_check_due(branch.stats)) return false;
    note_look(context, at, loss_before);
    NodeScores const scores = score_node(context, branch);
    bool const challenged = may_be_beaten(context, branch, scores.threshold);
    bool const useless = !criterion.worth_keeping(scores.test, scores.no_test, n);
    if (!challenged && !useless) return false;
    double const below = criterion.explained_below(context.codes, nodes_, at);
    if (challenged) {
        double const threshold = scores.threshold + share_to_make_up * below;
        if (auto const winner = find_winner(context, branch, scores.no_test, threshold)) {
            set_test(context, at, *winner, Decision::change);
            return true;
        }
    }
    if (!useless || criterion.worth_keeping(scores.test + below, scores.no_test, n)) return false;
    if (awaits_decision_below(at)) return false;
    make_leaf(context, at);
    return true;
}

// Whether a node below a branch is new: it may explain what its test does not.
bool Tree::awaits_decision_below(NodeId branch) const {
    std::vector<NodeId> const below = subtree(nodes_, branch);
    return std::any_of(below.begin(), below.end(), [&](NodeId at) { return nodes_[at].replay != ReplayStage::done; });
}

// set_test(node, test):                                        paper: convertToBranch, resetBranch
//     drop everything below the node
//     the node asks `test` from now on
//     the children are new leaves: the left one knows the variables that `test` introduces
void Tree::set_test(LearningContext& context, NodeId at, CandidateId candidate, Decision kind) {
    std::vector<FactType> const& types = context.codes.types();
    defer_look(nodes_[at]);
    remove_children(at);
    Node& node = nodes_[at];
    node.test = test_of(context.codes, node, candidate);
    node.test_candidate = candidate;
    node.uncounted_test = {};
    // The test that was in place is a candidate again.
    if (kind == Decision::change) node.stats.score_bound = std::numeric_limits<double>::infinity();
    if (!context.settings.branch_updates) node.candidates.stop();
    add_children(at, types);
    for (NodeId const child : {nodes_[at].left, nodes_[at].right}) {
        count_candidates(child, types);
        if (context.settings.memory > 0) TreeReplay(*this).add(child);
    }
    context.criterion.update_settled(nodes_);
    record_event(context, at, kind);
}

// make_leaf(branch):                                           paper: convertToLeaf
//     drop everything below the branch; its counts stay
void Tree::make_leaf(LearningContext& context, NodeId at) {
    defer_look(nodes_[at]);
    remove_children(at);
    context.criterion.update_settled(nodes_);
    nodes_[at].stats.score_bound = std::numeric_limits<double>::infinity();  // its test is a candidate again
    record_event(context, at, Decision::revert);
}

void Tree::record_event(LearningContext& context, NodeId at, Decision kind) const {
    Event event{kind, path(at), std::nullopt, nodes_[at].variable_classes.size()};
    if (kind != Decision::revert) event.test = nodes_[at].test;
    context.events.push_back(std::move(event));
}

// ---- nodes ----

NodeId Tree::add_node(NodeId parent, VariableClasses variable_classes) {
    Node node;
    node.parent = parent;
    node.depth = parent == kNoNode ? std::uint16_t{0} : static_cast<std::uint16_t>(nodes_[parent].depth + 1);
    node.variable_classes = std::move(variable_classes);
    node.fit_outcomes(outcomes_.size());
    if (free_.empty()) {
        nodes_.push_back(std::move(node));
        return static_cast<NodeId>(nodes_.size() - 1);
    }
    NodeId const at = free_.back();
    free_.pop_back();
    nodes_[at] = std::move(node);
    return at;
}

void Tree::count_candidates(NodeId at, std::vector<FactType> const& types) {
    if (!types.empty()) nodes_[at].candidates.start(tables_->find_or_make(types, nodes_[at].variable_classes));
}

void Tree::add_children(NodeId at, std::vector<FactType> const& types) {
    VariableClasses const classes = nodes_[at].variable_classes;
    Test const& test = nodes_[at].test;
    FactType const& type = types[test.type];
    bool const introduces = new_variables(type, test, classes.size()) > 0;
    NodeId const left = add_node(at, introduces ? VariableClasses(extended_classes(type, test, classes)) : classes);
    NodeId const right = add_node(at, classes);
    nodes_[at].left = left;
    nodes_[at].right = right;
}

void Tree::remove_children(NodeId at) {
    if (nodes_[at].is_leaf()) return;
    std::vector<NodeId> removed{nodes_[at].left, nodes_[at].right};
    while (!removed.empty()) {
        NodeId const each = removed.back();
        removed.pop_back();
        if (!nodes_[each].is_leaf()) {
            removed.push_back(nodes_[each].left);
            removed.push_back(nodes_[each].right);
        }
        nodes_[each] = Node{};
        free_.push_back(each);
    }
    nodes_[at].left = nodes_[at].right = kNoNode;
    nodes_[at].settled = false;
    nodes_[at].uncounted_test = {};
}

NodeId Tree::answering_node(NodeId leaf) const {
    while (leaf != kRoot && !has_answer(leaf)) leaf = nodes_[leaf].parent;
    return leaf;
}

std::uint64_t Tree::answer_total(NodeId node) const {
    if (!answers_with_all(node)) return own_answer_total(node);
    std::uint64_t const all = std::accumulate(seen_.begin(), seen_.end(), std::uint64_t{0});
    return outcomes_.has_others() ? all - seen_[outcomes_.others()] : all;
}

bool Tree::is_mostly_others(NodeId node) const {
    if (!outcomes_.has_others()) return false;
    std::size_t const others = outcomes_.others();
    return (answers_with_all(node) ? seen_[others] : nodes_[node].stats.totals[others]) > answer_total(node);
}

std::uint64_t Tree::own_answer_total(NodeId node) const {
    NodeStats const& stats = nodes_[node].stats;
    std::uint64_t const others = outcomes_.has_others() ? stats.totals[outcomes_.others()] : 0;
    return stats.n - others + nodes_[node].edits.prior_n;
}

std::string Tree::path(NodeId node) const {
    std::string path;
    for (; node != kRoot; node = nodes_[node].parent) path += nodes_[nodes_[node].parent].left == node ? 'L' : 'R';
    return {path.rbegin(), path.rend()};
}

bool Tree::is_edited() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](Node const& node) {
        return node.edits.pinned || node.edits.hand_written || !node.edits.prior_counts.empty();
    });
}

std::vector<NodeId> Tree::preorder() const { return varies() ? subtree(nodes_, kRoot) : std::vector<NodeId>{}; }

std::size_t Tree::bytes() const {
    std::size_t bytes = sizeof *this + seen_.capacity() * 8 + free_.capacity() * 4;
    bytes += outcomes_.bytes();
    bytes += (nodes_.capacity() - nodes_.size()) * sizeof(Node);
    for (Node const& node : nodes_) bytes += node.bytes();
    return bytes;
}

// ---- codes ----

void Tree::recode(std::vector<NewCodes> const& by_type) {
    for (Node& node : nodes_) {
        node.candidates.each([&](std::size_t b, BlockCounters& block) {
            auto const& [new_code, size] = by_type[node.candidates.table()[b].type];
            if (new_code == nullptr) return;
            block.recode(*new_code, size, node.stats.totals);
            CandidateId& test = node.test_candidate;
            if (!node.is_leaf() && test.block == b && test.code != no_code) test.code = (*new_code)[test.code];
        });
    }
}

// There is at most one recoding of a type. All are applied in one pass over the blocks, of which there may be many.
void recode(std::span<Tree> trees, Codes const& codes, std::vector<Recoding> const& recodings) {
    if (recodings.empty()) return;
    std::vector<NewCodes> by_type(codes.counted_types());
    for (Recoding const& recoding : recodings) {
        Code size = codes.size(recoding.type);
        for (Code const code : recoding.new_code) size = code == no_code ? size : std::max(size, code + 1);
        assert(by_type[recoding.type].new_code == nullptr);
        by_type[recoding.type] = {&recoding.new_code, size};
    }
    for (Tree& tree : trees) tree.recode(by_type);
}

void collect_codes(std::span<Tree> trees, Codes& codes) {
    for (std::size_t t = 0; t < codes.counted_types(); ++t) {
        if (!codes.crowded(t)) continue;
        std::vector<bool> used(codes.size(t), false);
        for (Tree const& tree : trees)
            for (Node const& node : tree.nodes()) mark_used_codes(node.candidates, t, used);
        recode(trees, codes, {codes.collect(t, std::move(used))});
    }
}

}  // namespace treethink
