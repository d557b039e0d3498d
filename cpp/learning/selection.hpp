// selection.hpp - which candidate of a node is best, and what it has to beat. Whether a node then splits, changes its
// test or becomes a leaf is decided in tree.cpp (decide_leaf, decide_branch).
#pragma once

#include <optional>

#include "learning/context.hpp"
#include "learning/node.hpp"

namespace treethink {

struct BestCandidate {
    CandidateId candidate;
    double score;  // less its description length
};

/// The candidate with the highest score, canonical order deciding ties; the test in place is not considered. `sample`
/// is what the node has counted, with a design effect.
[[nodiscard]] std::optional<BestCandidate> best_candidate(LearningContext& context, Node const& node,
                                                          Sample const& sample);
[[nodiscard]] inline std::optional<BestCandidate> best_candidate(LearningContext& context, Node const& node) {
    return best_candidate(context, node, node.stats.sample());
}

/// The scores that decide about a node.
struct NodeScores {
    double no_test;    // score without a test
    double test;       // of the test in place, less its description length; of a leaf: no_test
    double threshold;  // what a challenger must surely exceed
};
[[nodiscard]] NodeScores score_node(LearningContext& context, Node const& node);

}  // namespace treethink
