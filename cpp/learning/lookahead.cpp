#include "learning/lookahead.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace treethink {

namespace {

// Fewer observations show nothing.
constexpr std::uint64_t min_observations = 16;
constexpr std::uint64_t min_transitions = 32;
constexpr std::size_t phases = 16;

// Looks are due when this changes: four times while the number doubles.
std::uint64_t level(std::uint64_t transitions) {
    auto const exponent = static_cast<std::uint64_t>(std::bit_width(transitions)) - 1;
    return exponent * 4 + (transitions >> (exponent - 2)) % 4;
}

struct MixedLeaf {
    double loss;
    NodeId leaf;
};

std::vector<MixedLeaf> mixed_leaves(Criterion const& criterion, Tree const& tree) {
    std::vector<MixedLeaf> mixed;
    std::vector<Count> const never(tree.outcomes().size(), 0);
    for (NodeId const at : tree.preorder()) {
        Node const& node = tree.nodes()[at];
        if (!node.is_leaf() || node.edits.pinned || node.stats.n < min_observations || node.stats.is_pure()) continue;
        mixed.push_back({-criterion.score(never, Sample{node.stats.totals}), at});
    }
    return mixed;
}

}  // namespace

void TargetCollector::add(std::vector<FactType> const& types, State const& before,
                          std::span<Tree::Target const> targets) {
    ++transition_;
    FactsOnDemand const facts(before);
    for (Tree::Target const& target : targets) {
        if (is_full()) return;
        ++searched_;
        bindings_.width = target.arguments.size();
        bindings_.rows.assign(target.arguments.begin(), target.arguments.end());
        bool reached = false;
        Bindings at_node;
        narrow(tree_.nodes(), facts, types, bindings_, extended_, [&](Node const& node) {
            if (&node != &tree_.nodes()[node_]) return;
            reached = true;
            at_node = bindings_;
        });
        if (reached) targets_.push_back({&before, transition_, std::move(at_node), target.outcome});
    }
}

void LookAhead::look(NodeId leaf, std::span<KeptTarget const> targets) {
    if (targets.size() < min_observations || !tree_.nodes()[leaf].is_leaf()) return;
    (void)context_;  // what is looked for comes here
}

bool is_look_due(Tree const& tree, std::size_t phase) {
    if (!tree.varies() || tree.transitions() <= min_transitions) return false;
    auto const turn = [&](std::uint64_t transitions) {
        return level(transitions * (phases + phase % phases) / phases);
    };
    return turn(tree.transitions()) != turn(tree.transitions() - 1);
}

std::optional<NodeId> leaf_to_look_at(Criterion const& criterion, Tree const& tree) {
    std::vector<MixedLeaf> const mixed = mixed_leaves(criterion, tree);
    if (mixed.empty()) return std::nullopt;
    std::uint64_t const turn = level(tree.transitions());
    if (turn % 2 == 1) return mixed[turn / 2 % mixed.size()].leaf;
    return std::max_element(mixed.begin(), mixed.end(), [](auto& a, auto& b) { return a.loss < b.loss; })->leaf;
}

}  // namespace treethink
