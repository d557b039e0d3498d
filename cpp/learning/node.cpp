#include "learning/node.hpp"

#include <limits>
#include <type_traits>
#include <utility>

namespace treethink {

std::uint64_t ClusterStats::design_effect(Counts totals, std::uint64_t n) const {
    if (pairs == 0) return 1;
    std::uint64_t squares = 0;
    for (Count const count : totals) squares += std::uint64_t{count} * count;
    auto const targets = static_cast<double>(n);
    double const by_chance = static_cast<double>(squares) / (targets * targets);
    if (by_chance >= 1) return 1;
    double const agree = static_cast<double>(agreeing) / static_cast<double>(pairs);
    double const correlation = (agree - by_chance) / (1 - by_chance);
    double const others = 2 * static_cast<double>(pairs) / targets;  // mean number in a target's cluster
    double const effect = 1 + others * correlation;
    return effect < 1 ? 1 : static_cast<std::uint64_t>(effect + 0.5);
}

void Node::fit_outcomes(std::size_t outcomes) {
    stats.totals.resize(outcomes, 0);
    if (uncounted_test.in_place()) uncounted_test.counts.resize(outcomes, 0);
    if (!edits.prior_counts.empty()) edits.prior_counts.resize(outcomes, 0);
    if (!edits.seen_since_pinned.empty()) edits.seen_since_pinned.resize(outcomes, 0);
}

void Node::merge_outcomes(std::vector<std::uint32_t> const& new_place, std::size_t outcomes) {
    candidates.each(
        [&](std::size_t, BlockCounters& block) { block.merge_outcomes(new_place, outcomes, stats.totals); });
    auto const merge = [&](auto& counts) {
        auto const old = std::exchange(counts, std::remove_reference_t<decltype(counts)>(outcomes, 0));
        for (std::size_t y = 0; y < old.size(); ++y) counts[new_place[y]] += old[y];
    };
    merge(stats.totals);
    if (uncounted_test.in_place()) merge(uncounted_test.counts);
    if (!edits.prior_counts.empty()) merge(edits.prior_counts);
    if (!edits.seen_since_pinned.empty()) merge(edits.seen_since_pinned);
    // What was concluded from the old counts no longer holds.
    stats.score_bound = std::numeric_limits<double>::infinity();
    stats.last_checked_loss = 0;
    stats.next_check = 0;
}

std::size_t Node::bytes() const {
    return sizeof *this + variable_classes.bytes() + stats.totals.capacity() * 4 + stats.clusters.bytes() +
           uncounted_test.counts.capacity() * sizeof(Count) +
           (edits.prior_counts.capacity() + edits.seen_since_pinned.capacity()) * 8 + candidates.bytes();
}

std::vector<NodeId> subtree(std::vector<Node> const& nodes, NodeId root) {
    std::vector<NodeId> order, open{root};
    while (!open.empty()) {
        order.push_back(open.back());
        open.pop_back();
        Node const& node = nodes[order.back()];
        if (!node.is_leaf()) open.insert(open.end(), {node.right, node.left});
    }
    return order;
}

}  // namespace treethink
