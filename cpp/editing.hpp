// editing.hpp - what people change in a tree: nodes written by hand, pinned and removed.
//
// A hand-written branch keeps its test, and a hand-written leaf answers with its prior (if that is empty, with its
// ancestor's answer) until it has counted something. A pinned node does not learn, but a pinned leaf records what
// reaches it. Branches above any of these keep their tests too (`held`), or the edit would be lost with them;
// everything else goes on learning.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "learning/tree.hpp"

namespace treethink {

/// A node of a tree that was written by hand.
struct HandWrittenNode {
    std::optional<Test> test;                                // of a branch
    std::vector<std::pair<Vector, std::uint64_t>> outcomes;  // of a leaf: each with the observations it stands for
};

/// The node that a path of L and R from the root leads to. Throws RuleError.
[[nodiscard]] NodeId find_node(Tree const& tree, std::string_view path);

/// Edits one tree. Each edit throws RuleError, having changed nothing.
class TreeEditor {
public:
    TreeEditor(Tree& tree, std::vector<FactType> const& types, Criterion const& criterion)
        : tree_(tree), types_(types), criterion_(criterion) {}

    /// Replaces a node and all below it by nodes in preorder, which are pinned. A tree without nodes gets its first
    /// ones.
    void replace(NodeId at, std::vector<HandWrittenNode> const& nodes);
    /// From now on everything below the node answers what it answers now. Throws RuleError if it has no answer.
    void pin(NodeId at);
    /// Everything below the node learns again, beginning with what it has seen since it was pinned. `replay`:
    /// hand-written leaves also wait for kept transitions.
    void unpin(NodeId at, bool replay);
    /// Puts one child in the place of a branch. `merge`: the other child has the same tests and its leaves answer the
    /// same; their counts are added.
    void keep_child(NodeId at, bool left, bool merge);

    /// Finds the branches whose tests must stay (NodeEdits::held).
    static void update_held(Tree& tree);

private:
    void check_size(std::size_t nodes, std::vector<Vector> named) const;
    void write_nodes(NodeId at, std::vector<HandWrittenNode> const& nodes);
    void write_node(NodeId at, HandWrittenNode const& node);
    void sum_priors(NodeId at);
    void unpin_leaf(NodeId at, bool replay);
    void merge_counts(NodeId kept, NodeId other);
    void move_up(NodeId child);
    void add_prior(NodeId at, std::vector<std::uint64_t> const& counts);
    [[nodiscard]] std::vector<std::uint64_t> answer_counts(NodeId at) const;
    void finish();

    Tree& tree_;
    std::vector<FactType> const& types_;
    Criterion const& criterion_;
};

}  // namespace treethink
