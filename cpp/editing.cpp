#include "editing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "learning/replay.hpp"
#include "model.hpp"

namespace treethink {

namespace {

// Observations that one outcome of a hand-written leaf can stand for.
constexpr std::uint64_t max_prior_count = std::uint64_t{1} << 53;
// Limit on nodes x outcomes: every node has a counter for every outcome.
constexpr std::size_t max_counters = std::size_t{1} << 22;

void check_test(Test const& test, std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                std::uint32_t depth) {
    if (depth >= max_depth) throw RuleError("a rule can be " + std::to_string(max_depth) + " tests deep at most");
    if (classes.size() >= max_variables)
        throw RuleError("a rule can ask about " + std::to_string(max_variables) + " objects at most");
    if (test.type >= types.size() || !find_block(types, classes, test))
        throw RuleError("a test asks about variables that it cannot have");
    FactType const& type = types[test.type];
    if (test.value.size() != type.value_length)
        throw RuleError("a test must name a value of length " + std::to_string(type.value_length) +
                        ", got one of length " + std::to_string(test.value.size()));
    if (!type.kind->possible(test.value)) throw RuleError("a test names a value that no fact can have");
}

void check_leaf(HandWrittenNode const& leaf) {
    for (auto const& [outcome, n] : leaf.outcomes)
        if (n < 1 || n > max_prior_count)
            throw RuleError("an outcome must be seen 1 to " + std::to_string(max_prior_count) + " times, got " +
                            std::to_string(n));
}

void check_tree(std::vector<HandWrittenNode> const& nodes, std::vector<FactType> const& types,
                std::vector<ClassId> classes, std::uint32_t depth) {
    std::vector<std::pair<std::vector<ClassId>, std::uint32_t>> open{{std::move(classes), depth}};
    for (HandWrittenNode const& node : nodes) {
        if (open.empty()) throw RuleError("a rule has nodes left over");
        auto const [known, node_depth] = std::move(open.back());
        open.pop_back();
        if (!node.test) {
            check_leaf(node);
            continue;
        }
        check_test(*node.test, types, known, node_depth);
        open.emplace_back(known, node_depth + 1);
        open.emplace_back(extended_classes(types[node.test->type], *node.test, known), node_depth + 1);
    }
    if (!open.empty()) throw RuleError("a rule ends before all of its branches do");
    auto const says_nothing = [](HandWrittenNode const& node) { return node.outcomes.empty(); };
    if (std::all_of(nodes.begin(), nodes.end(), says_nothing)) throw RuleError("a rule names no outcome at all");
}

}  // namespace

// ---- one tree ----

NodeId find_node(Tree const& tree, std::string_view path) {
    NodeId at = kRoot;
    for (char const step : path) {
        if (!tree.varies() || tree.nodes()[at].is_leaf() || (step != 'L' && step != 'R'))
            throw RuleError("the rule has no node at the path '" + std::string(path) + "'");
        at = step == 'L' ? tree.nodes()[at].left : tree.nodes()[at].right;
    }
    return at;
}

void TreeEditor::check_size(std::size_t nodes, std::vector<Vector> named) const {
    auto const& known = tree_.outcomes_.values();
    named.insert(named.end(), known.begin(), known.end());
    std::sort(named.begin(), named.end());
    auto const different = static_cast<std::size_t>(std::unique(named.begin(), named.end()) - named.begin());
    std::size_t const all_nodes = nodes + tree_.nodes_.size();
    if (all_nodes * different > max_counters)
        throw RuleError("a rule of " + std::to_string(all_nodes) + " nodes and " + std::to_string(different) +
                        " outcomes is too large: their product can be " + std::to_string(max_counters) + " at most");
}

void TreeEditor::add_prior(NodeId at, std::vector<std::uint64_t> const& counts) {
    NodeEdits& edits = tree_.nodes_[at].edits;
    edits.prior_counts.resize(tree_.outcomes_.size(), 0);
    for (std::size_t y = 0; y < counts.size(); ++y) {
        if (y == tree_.outcomes_.others()) continue;  // they have no value to answer with
        std::uint64_t const more = std::min(counts[y], max_observations - edits.prior_n);
        edits.prior_counts[y] += more;
        edits.prior_n += more;
    }
}

std::vector<std::uint64_t> TreeEditor::answer_counts(NodeId at) const {
    std::vector<std::uint64_t> counts;
    counts.reserve(tree_.outcomes_.size());
    for (std::size_t y = 0; y < tree_.outcomes_.size(); ++y) counts.push_back(tree_.answer_count(at, y));
    return counts;
}

void TreeEditor::finish() {
    update_held(tree_);
    criterion_.update_settled(tree_.nodes_);
}

// ---- replace ----

void TreeEditor::replace(NodeId at, std::vector<HandWrittenNode> const& nodes) {
    bool const varies = tree_.varies();
    check_tree(nodes, types_, varies ? std::vector<ClassId>(tree_.nodes_[at].variable_classes) : tree_.arguments_,
               varies ? tree_.nodes_[at].depth : 0);
    std::vector<Vector> outcomes;
    for (HandWrittenNode const& each : nodes)
        for (auto const& [outcome, n] : each.outcomes) outcomes.push_back(outcome);
    check_size(nodes.size(), outcomes);
    tree_.add_outcomes(std::move(outcomes));
    if (!varies) (void)tree_.add_node(kNoNode, VariableClasses(tree_.arguments_));
    write_nodes(at, nodes);
    sum_priors(at);
    pin(at);
}

void TreeEditor::write_nodes(NodeId at, std::vector<HandWrittenNode> const& nodes) {
    tree_.remove_children(at);
    std::vector<NodeId> open{at};
    for (HandWrittenNode const& each : nodes) {
        NodeId const next = open.back();
        open.pop_back();
        write_node(next, each);
        if (!each.test) continue;
        tree_.add_children(next, types_);
        open.push_back(tree_.nodes_[next].right);
        open.push_back(tree_.nodes_[next].left);
    }
}

void TreeEditor::write_node(NodeId at, HandWrittenNode const& hand_written) {
    Node& old = tree_.nodes_[at];
    Node node;
    node.parent = old.parent;
    node.depth = old.depth;
    node.variable_classes = std::move(old.variable_classes);
    node.fit_outcomes(tree_.outcomes_.size());
    node.edits.hand_written = true;
    if (hand_written.test) node.test = *hand_written.test;
    old = std::move(node);
    std::vector<std::uint64_t> counts(tree_.outcomes_.size(), 0);
    for (auto const& [outcome, n] : hand_written.outcomes) counts[*tree_.outcomes_.find(outcome)] += n;
    add_prior(at, counts);
}

// Gives every branch the prior of its children.
void TreeEditor::sum_priors(NodeId at) {
    auto const order = subtree(tree_.nodes_, at);
    for (auto each = order.rbegin(); each != order.rend(); ++each) {
        Node const& node = tree_.nodes_[*each];
        if (node.is_leaf()) continue;
        add_prior(*each, tree_.nodes_[node.left].edits.prior_counts);
        add_prior(*each, tree_.nodes_[node.right].edits.prior_counts);
    }
}

// ---- pin, unpin ----

void TreeEditor::pin(NodeId at) {
    if (!tree_.varies()) {
        if (tree_.transitions_ == 0) throw RuleError("it has never been seen: there is nothing to pin");
        (void)tree_.add_node(kNoNode, VariableClasses(tree_.arguments_));
        tree_.nodes_[kRoot].edits.hand_written = true;
        add_prior(kRoot, tree_.seen_);
    }
    // The node's answer stays, also where it is all that the tree ever saw, or an ancestor's answer.
    NodeStats const& stats = tree_.nodes_[at].stats;
    if (tree_.answers_with_all(at)) {
        std::vector<std::uint64_t> earlier = tree_.seen_;
        for (std::size_t y = 0; y < earlier.size(); ++y)
            earlier[y] -= std::min<std::uint64_t>(earlier[y], stats.totals[y]);
        add_prior(at, earlier);
    } else if (!tree_.has_answer(at)) {
        add_prior(at, answer_counts(tree_.answering_node(at)));
    }
    for (NodeId const each : subtree(tree_.nodes_, at)) {
        Node& node = tree_.nodes_[each];
        NodeEdits& edits = node.edits;
        if (node.is_leaf() && !edits.pinned) edits.seen_since_pinned.assign(tree_.outcomes_.size(), 0);
        if (node.is_leaf() && edits.hand_written) node.candidates.stop();  // it has not counted anything
        edits.pinned = true;
    }
    finish();
}

void TreeEditor::unpin(NodeId at, bool replay) {
    if (!tree_.varies()) return;
    for (NodeId const each : subtree(tree_.nodes_, at)) {
        Node& node = tree_.nodes_[each];
        if (!node.edits.pinned) continue;
        node.edits.pinned = false;
        if (node.is_leaf()) unpin_leaf(each, replay);
        node.edits.seen_since_pinned.clear();
    }
    Node const& root = tree_.nodes_[kRoot];
    bool const constant = root.is_leaf() && !root.edits.pinned && tree_.outcomes_.size() < 2;
    if (constant && tree_.transitions_ > 0) {  // no tree is needed any more
        tree_.nodes_.clear();
        tree_.free_.clear();
        tree_.awaiting_replay_.clear();
    }
    finish();
}

// A leaf that learned before adds what it has seen since to its answer; a hand-written one answers with that instead.
void TreeEditor::unpin_leaf(NodeId at, bool replay) {
    Node& node = tree_.nodes_[at];
    std::vector<std::uint64_t> const seen = std::exchange(node.edits.seen_since_pinned, {});
    bool const has_seen = std::any_of(seen.begin(), seen.end(), [](std::uint64_t n) { return n > 0; });
    if (node.edits.hand_written) {
        tree_.count_candidates(at, types_);
        if (replay) TreeReplay(tree_).add(at);
        if (!has_seen) return;
        node.edits.clear_prior();
        node.edits.hand_written = replay;  // what is kept will be counted, and must not count twice
    }
    if (has_seen) add_prior(at, seen);
}

// ---- keep_child ----

void TreeEditor::keep_child(NodeId at, bool left, bool merge) {
    auto& nodes = tree_.nodes_;
    if (!tree_.varies() || nodes[at].is_leaf()) throw RuleError("a leaf has no children to keep");
    NodeId const kept = left ? nodes[at].left : nodes[at].right;
    NodeId const other = left ? nodes[at].right : nodes[at].left;
    if (nodes[kept].variable_classes.size() != nodes[at].variable_classes.size())
        throw RuleError("a child that knows more variables cannot stand in its parent's place");
    if (merge) merge_counts(kept, other);
    // Leaves below that have seen nothing answer as before.
    if (!tree_.has_answer(kept)) add_prior(kept, answer_counts(at));
    if (at == kRoot) add_prior(kept, {});  // an empty prior: the new root does not answer with all that was ever seen
    move_up(kept);
    finish();
}

// Adds the answers of the leaves below `other` to those of the leaves in the same places below `kept`.
void TreeEditor::merge_counts(NodeId kept, NodeId other) {
    auto const& nodes = tree_.nodes_;
    auto const mine = subtree(nodes, kept), theirs = subtree(nodes, other);
    bool same_form = mine.size() == theirs.size();
    for (std::size_t i = 0; same_form && i < mine.size(); ++i)
        same_form = nodes[mine[i]].is_leaf() == nodes[theirs[i]].is_leaf();
    if (!same_form) throw RuleError("only branches of the same form can be merged");
    for (std::size_t i = 0; i < mine.size(); ++i)
        if (nodes[mine[i]].is_leaf() && tree_.has_answer(theirs[i])) add_prior(mine[i], answer_counts(theirs[i]));
}

// Moves a node into its parent's place; the other child is removed.
void TreeEditor::move_up(NodeId child) {
    auto& nodes = tree_.nodes_;
    NodeId const at = nodes[child].parent;
    for (NodeId const each : subtree(nodes, child)) --nodes[each].depth;
    Node node = std::move(nodes[child]);
    node.parent = nodes[at].parent;
    nodes[child] = Node{};
    tree_.remove_children(at);
    nodes[at] = std::move(node);
    if (nodes[at].is_leaf()) return;
    nodes[nodes[at].left].parent = at;
    nodes[nodes[at].right].parent = at;
}

void TreeEditor::update_held(Tree& tree) {
    auto& nodes = tree.nodes_;
    auto const is_fixed = [&](NodeId at) { return nodes[at].edits.pinned || nodes[at].edits.held; };
    std::vector<NodeId> const order = tree.preorder();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {  // children before their parents
        Node& node = nodes[*at];
        NodeEdits& edits = node.edits;
        edits.held =
            !node.is_leaf() && (edits.pinned || edits.hand_written || is_fixed(node.left) || is_fixed(node.right));
    }
}

// ---- one rule of a model ----

// Edits a copy of the rule, so that an edit that fails changes nothing. The caller holds the lock.
template <class Edit>
void Model::edit(SlotId slot, ActionId action, std::string_view path, Edit const& edit) {
    if (feedback_kind(slot)) add_feedback_rules();
    Tree edited = tree(slot, action);
    NodeId const at = find_node(edited, path);
    edit(TreeEditor(edited, codes_.types(), *criterion_), at);
    tree(slot, action) = std::move(edited);
    count_varying();
    ++edits_;
}

void Model::replace(SlotId slot, ActionId action, std::string_view path, std::vector<HandWrittenNode> const& nodes) {
    auto const lock = lock_.for_writing();
    bool const may_stay = !feedback_kind(slot) && !tree(slot, action).frame().is_change();
    for (HandWrittenNode const& node : nodes)
        for (auto const& [outcome, n] : node.outcomes)
            if (!(may_stay && same(outcome, kStays)) && outcome.size() != outcome_length(slot))
                throw RuleError("an outcome must be of length " + std::to_string(outcome_length(slot)) +
                                ", got one of length " + std::to_string(outcome.size()));
    edit(slot, action, path, [&](TreeEditor editor, NodeId at) { editor.replace(at, nodes); });
}

void Model::pin(SlotId slot, ActionId action, std::string_view path) {
    auto const lock = lock_.for_writing();
    edit(slot, action, path, [](TreeEditor editor, NodeId at) { editor.pin(at); });
}

// Leaves that start to learn begin like those of a new split: with the kept transitions.
void Model::unpin(SlotId slot, ActionId action, std::string_view path) {
    auto const lock = lock_.for_writing();
    bool const replay = !window_.transitions().empty();
    edit(slot, action, path, [&](TreeEditor editor, NodeId at) { editor.unpin(at, replay); });
    if (!tree(slot, action).awaits_replay()) return;
    lock_.guard("replayed its memory after observation", observations_, [&] {
        replay_window({{slot, action}});
        undecided_.emplace_back(slot, action);
        std::sort(undecided_.begin(), undecided_.end());
        undecided_.erase(std::unique(undecided_.begin(), undecided_.end()), undecided_.end());
    });
}

// Not on a copy: simplify() calls it for each of many nodes.
void Model::keep_child(SlotId slot, ActionId action, std::string_view path, bool left, bool merge) {
    auto const lock = lock_.for_writing();
    if (feedback_kind(slot)) add_feedback_rules();
    Tree& tree = this->tree(slot, action);
    NodeId const at = find_node(tree, path);
    lock_.guard("simplified a rule after observation", observations_,
                [&] { TreeEditor(tree, codes_.types(), *criterion_).keep_child(at, left, merge); });
    ++edits_;
}

std::uint64_t Model::edits() const {
    auto const lock = lock_.for_reading();
    return edits_;
}

}  // namespace treethink
