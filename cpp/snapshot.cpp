#include "snapshot.hpp"

#include <algorithm>

namespace treethink {

namespace {

std::vector<TreeSnapshot::Candidate> copy_candidates(Codes const& codes, Node const& node) {
    std::vector<TreeSnapshot::Candidate> all;
    node.candidates.each([&](std::size_t b, BlockCounters const& block) {
        for (BlockCounters::Column column = 0; column < block.size(); ++column) {
            all.push_back({test_of(codes, node, {b, block.codes[column]}), {}});
            block.read_column(column, node.stats.totals, all.back().counts);
        }
    });
    if (node.uncounted_test.in_place()) all.push_back({node.test, node.uncounted_test.counts});
    std::sort(all.begin(), all.end(), [&](auto const& a, auto const& b) {
        return canonical_order(codes.types(), node.variable_classes.size(), a.test, b.test) < 0;
    });
    return all;
}

TreeSnapshot::Node copy_node(Node const& node, std::size_t outcomes) {
    TreeSnapshot::Node copy;
    copy.variable_classes = node.variable_classes;
    for (std::size_t y = 0; y < outcomes; ++y) copy.counts.push_back(node.answer_count(y));
    if (!node.is_leaf()) copy.test = node.test;
    copy.pinned = node.edits.pinned;
    copy.hand_written = node.edits.hand_written;
    copy.has_prior = !node.edits.prior_counts.empty();
    copy.seen_since_pinned = node.edits.seen_since_pinned;
    return copy;
}

}  // namespace

TreeSnapshot take_snapshot(Tree const& tree, Codes const& codes, bool with_candidates) {
    std::vector<NodeId> const order = tree.preorder();
    std::vector<std::size_t> place(tree.nodes().size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    TreeSnapshot snapshot{tree.transitions(),       tree.frame(), tree.outcomes().values(),
                          tree.outcomes().others(), tree.seen(),  {}};
    for (NodeId const at : order) {
        Node const& node = tree.nodes()[at];
        TreeSnapshot::Node copy = copy_node(node, tree.outcomes().size());
        if (!node.is_leaf()) {
            copy.left = place[node.left];
            copy.right = place[node.right];
        }
        if (with_candidates) copy.candidates = copy_candidates(codes, node);
        snapshot.nodes.push_back(std::move(copy));
    }
    return snapshot;
}

}  // namespace treethink
