// second_look.hpp - tests that are not counted, found by a second look at the transitions that are kept.
//
// Every visit to a node counts the facts of most kinds. To count order and thresholds as well would double that work,
// and few nodes need them. So a node is now and then looked at again: the most recent kept targets that reach it say
// which test of these kinds would have served best there. If that is surely better than the test in place, or than no
// test, and better than the best candidate, the node asks it from now on. It then starts to count again, from what is
// kept, and counts how often this test holds beside its candidates.
//
//   Tree notes which nodes to look at while it decides; at the end of the observation, for each rule:
//   for each node that waits, if is_worth_while(node): decide(node, targets that reach it)
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "looks/kept_targets.hpp"

namespace treethink {

/// A test, and what it is worth in a sample.
struct ScoredTest {
    Test test;
    Log description_length;
    double net_score;  // less its description length
    double score;
};

/// The nodes of one tree that wait for a second look.
class SecondLook {
public:
    SecondLook(Tree& tree, LearningContext& context) : tree_(tree), context_(context) {}

    /// Whether a perfect test would be surely better than what is in place.
    [[nodiscard]] bool is_worth_while(NodeId node) const;
    /// Looks at a node; returns whether it has changed.
    bool decide(NodeId node, std::span<KeptTarget const> targets);

private:
    [[nodiscard]] double threshold(NodeId node, std::vector<Count> const& counts, Sample const& sample) const;
    [[nodiscard]] std::optional<ScoredTest> best_uncounted_test(std::vector<ClassId> const& classes,
                                                                std::span<KeptTarget const> targets,
                                                                LookSample const& sample);
    [[nodiscard]] double score_of_candidate(Node const& node, std::span<KeptTarget const> targets,
                                            LookSample const& sample);
    [[nodiscard]] TargetSet where_holds(Node const& node, Test const& test, std::span<KeptTarget const> targets) const;
    void set_test(NodeId node, ScoredTest test);

    Tree& tree_;
    LearningContext& context_;
};

}  // namespace treethink
