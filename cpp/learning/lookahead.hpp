// lookahead.hpp - a second look at leaves that stay mixed, over the transitions that are kept.
//
// Every visit to a node counts single tests. What single tests cannot show is looked for now and then, in what is kept:
// the most recent targets that reach the leaf. A rule is looked at once its transitions have grown by about a fifth
// since the last look, so looks cost a share of learning that falls. When that is follows from counts that files have
// anyway: a model that was saved and loaded goes on alike.
//
//   Model::look_ahead, at the end of an observation:
//       for the first rule for which is_look_due(tree):
//           leaf = leaf_to_look_at(tree)
//           targets = kept targets that reach it (TargetCollector)
//           LookAhead(tree, ...).look(leaf, targets)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "learning/tree.hpp"

namespace treethink {

/// A target of a kept transition that reaches a node.
struct KeptTarget {
    State const* before;       // of its transition
    std::uint64_t transition;  // differs between any two transitions of one look; counted from 1
    Bindings bindings;         // that arrive at the node
    std::uint32_t outcome;
};

/// Collects the targets that reach a node, transition by transition, the most recent first.
class TargetCollector {
public:
    /// A look uses at most so many targets.
    static constexpr std::size_t max_targets = 160;
    /// And searches at most so many, of all leaves.
    static constexpr std::size_t max_searched = 4000;

    TargetCollector(Tree const& tree, NodeId node) : tree_(tree), node_(node) {}

    [[nodiscard]] bool is_full() const { return targets_.size() >= max_targets || searched_ >= max_searched; }
    /// Adds the targets of one transition that reach the node, until there are enough. `before` must outlive them.
    void add(std::vector<FactType> const& types, State const& before, std::span<Tree::Target const> targets);
    [[nodiscard]] std::vector<KeptTarget> take() { return std::move(targets_); }

private:
    Tree const& tree_;
    NodeId node_;
    std::vector<KeptTarget> targets_;
    std::size_t searched_ = 0;
    std::uint64_t transition_ = 0;
    Bindings bindings_, extended_;
};

/// Looks at one leaf of a tree, and splits it if that explains its targets surely better than no test.
class LookAhead {
public:
    /// Makes a kept state the current one of the model's codes; returns what had to be renumbered.
    using SetState = std::function<std::vector<Recoding>(State const&)>;

    LookAhead(Tree& tree, LearningContext& context, SetState set_state)
        : tree_(tree), context_(context), set_state_(std::move(set_state)) {}

    void look(NodeId leaf, std::span<KeptTarget const> targets);

private:
    Tree& tree_;
    LearningContext& context_;
    SetState set_state_;
};

/// Whether it is time to look at a leaf of the rule. Rules whose `phase` differs mostly take different turns.
[[nodiscard]] bool is_look_due(Tree const& tree, std::size_t phase);
/// The leaf to look at: every other time the one that leaves most unexplained, otherwise each mixed one in turn.
[[nodiscard]] std::optional<NodeId> leaf_to_look_at(Criterion const& criterion, Tree const& tree);

}  // namespace treethink
