#include "learning/replay.hpp"

#include <cassert>

namespace treethink {

void TreeReplay::add_seen(LearningContext& context, std::span<Tree::Target const> targets) {
    ++tree_.transitions_;
    for (Tree::Target const& target : targets) ++tree_.seen_[target.outcome];
    if (tree_.varies() || tree_.outcomes_.size() < 2) return;
    tree_.count_candidates(tree_.add_node(kNoNode, VariableClasses(tree_.arguments_)), context.codes.types());
    add(kRoot);
}

void TreeReplay::add(NodeId at) {
    Node& node = tree_.nodes_[at];
    node.replay = ReplayStage::awaiting_replay;
    node.last_reached = Node::kNever;  // a target that reached it while it was pinned was not counted
    tree_.awaiting_replay_.push_back(at);
}

void TreeReplay::count(LearningContext& context, std::span<Tree::Target const> targets,
                       std::function<void()> const& set_codes) {
    ++tree_.stamp_;
    NodeShare const share = tree_.node_share(context);
    for (Tree::Target const& target : targets)
        tree_.count_on_way(context, target, targets.size() >= min_group, share, [&](Node const& node) {
            bool const waits = node.replay == ReplayStage::awaiting_replay;
            if (waits) set_codes();
            return waits;
        });
    tree_.count_groups(context, share);
    for (NodeId const at : tree_.awaiting_replay_) name_planted_test(context, tree_.nodes_[at]);
    for (NodeId const at : tree_.awaiting_replay_)
        tree_.forgotten_ += forget_candidates(context, tree_.nodes_[at], tree_.size(), share);
}

// A test that was planted (looks/fresh_tree.hpp) is a candidate from the time when it is first true.
void TreeReplay::name_planted_test(LearningContext const& context, Node& node) {
    bool const is_planted = !node.is_leaf() && node.uncounted_test.in_place();
    if (!is_planted || node.test_candidate.code != no_code || !context.codes.types()[node.test.type].counted) return;
    Code const code = context.codes.find(node.test.type, node.test.value);
    BlockCounters const* const counters = node.candidates.find(node.test_candidate.block);
    bool const is_counted = counters != nullptr && code != no_code;
    if (is_counted && counters->find_column(code) != BlockCounters::kNoColumn) node.test_candidate.code = code;
}

void TreeReplay::finish(LearningContext& context) {
    for (NodeId const at : tree_.awaiting_replay_) {
        Node& node = tree_.nodes_[at];
        if (node.replay != ReplayStage::awaiting_replay) continue;  // removed, or listed twice
        // It now has the counts of a candidate.
        if (!node.is_leaf() && node.test_candidate.code != no_code) node.uncounted_test = {};
        // A branch that was decided by a second look has nothing to decide yet.
        node.replay = node.is_leaf() ? ReplayStage::awaiting_decision : ReplayStage::done;
    }
    tree_.awaiting_replay_.clear();
    context.criterion.update_settled(tree_.nodes_);
}

void TreeReplay::decide(LearningContext& context) {
    // In preorder, so that nothing depends on which places of the list were free.
    for (NodeId const at : tree_.preorder()) {
        Node& node = tree_.nodes_[at];
        if (node.replay != ReplayStage::awaiting_decision) continue;
        node.replay = ReplayStage::done;
        if (node.last_reached != tree_.transitions_) {
            assert(node.is_leaf());  // nodes that wait are new, and those that were reached have decided
            tree_.decide_leaf(context, at);
        }
    }
}

std::vector<std::size_t> TreeReplay::undecided(Tree const& tree) {
    std::vector<std::size_t> places;
    std::vector<NodeId> const order = tree.preorder();
    for (std::size_t i = 0; i < order.size(); ++i)
        if (tree.nodes()[order[i]].replay == ReplayStage::awaiting_decision) places.push_back(i);
    return places;
}

void TreeReplay::set_undecided(std::vector<std::size_t> const& places) {
    std::vector<NodeId> const order = tree_.preorder();
    for (std::size_t const place : places) {
        if (place >= order.size() || !tree_.nodes_[order[place]].is_leaf())
            throw ModelFileError("the model file has a seeded node that is none of its leaves");
        tree_.nodes_[order[place]].replay = ReplayStage::awaiting_decision;
    }
}

}  // namespace treethink
