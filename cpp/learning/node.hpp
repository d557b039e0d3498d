// node.hpp - a node of a tree: structure, statistics, candidates, and what people changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/routing.hpp"
#include "learning/candidates.hpp"
#include "learning/criterion.hpp"
#include "learning/fixed_point_log.hpp"

namespace treethink {

/// A tree never grows deeper than this (tests on a path).
inline constexpr std::uint16_t max_depth = 1000;
/// A node with this many variables never splits: the number of candidates grows with their square.
inline constexpr std::size_t max_variables = 128;
/// Limit of 64-bit counts of observations: counting on from larger numbers might overflow.
inline constexpr std::uint64_t max_observations = std::uint64_t{1} << 62;
/// Limit of a node's own counters, which have 32 bits. A node that has counted this much learns no more.
inline constexpr std::uint64_t max_counted = ~Count{0};

/// How often targets of one transition that reached a node had the same outcome (cluster sampling).
///
/// Eight objects that share one coin are one toss, not eight. The design effect of a sample of such clusters is
/// 1 + (mean number of others in a target's cluster) x (correlation of outcomes): that many observations count as one.
class ClusterStats {
public:
    /// Adds a target. `transition` is a stamp that all targets of one transition share, and `outcomes` is the number of
    /// outcomes.
    void add(std::uint64_t transition, std::uint32_t outcome, std::size_t outcomes) {
        if (transition_ != transition) {
            transition_ = transition;
            cluster_size_ = 0;
            by_outcome_.assign(outcomes, 0);
        }
        pairs += cluster_size_++;
        agreeing += by_outcome_[outcome]++;
    }
    /// The design effect, rounded to a whole number; 1 at least.
    [[nodiscard]] std::uint64_t design_effect(Counts totals, std::uint64_t n) const;
    /// How many targets of the transition were added; it is the last one, or a later one.
    [[nodiscard]] std::uint64_t size_in(std::uint64_t transition) const {
        return transition_ == transition ? cluster_size_ : 0;
    }
    [[nodiscard]] std::size_t bytes() const { return by_outcome_.capacity() * sizeof(Count); }

    std::uint64_t pairs = 0;     // of targets that came in one transition
    std::uint64_t agreeing = 0;  // of those: pairs with the same outcome

private:
    std::uint64_t transition_ = 0;    // stamp of the current cluster; stamps are counted from 1
    std::uint64_t cluster_size_ = 0;  // targets in it so far
    std::vector<Count> by_outcome_;   // targets in it so far, by outcome
};

/// What a node has counted, and what its criterion has concluded from that.
struct NodeStats {
    std::vector<Count> totals;        // observations, by outcome
    std::uint64_t n = 0;              // observations: sum of totals
    ClusterStats clusters;            // dependence between targets of one transition
    std::uint64_t design_effect = 1;  // of `clusters` at the last check: observations that count as one
    double score_bound = 0;           // no candidate but the test in place scores above this
    Log last_checked_loss = 0;        // -log probability of the outcomes without a test at the last check, in Log units
    std::uint64_t next_check = 0;     // value of n before which no check can be due

    /// Whether at most one outcome was counted: there is nothing to explain.
    [[nodiscard]] bool is_pure() const {
        return std::count_if(totals.begin(), totals.end(), [](Count count) { return count > 0; }) < 2;
    }
    [[nodiscard]] Sample sample() const { return {totals, design_effect}; }
    /// The design effect of everything counted so far.
    [[nodiscard]] std::uint64_t current_design_effect() const { return clusters.design_effect(totals, n); }
};

/// What a branch counts of a test that is no candidate, because its kind is not counted (second_look.hpp).
struct UncountedTest {
    std::vector<Count> counts;   // observations in which the test held, by outcome; empty: the test is a candidate
    Log description_length = 0;  // of the test

    [[nodiscard]] bool in_place() const { return !counts.empty(); }
};

/// What people changed at a node (editing.cpp).
struct NodeEdits {
    bool pinned = false;        // the node does not learn: it neither counts nor decides
    bool hand_written = false;  // a branch keeps its test; a leaf answers with its prior until it has counted
    bool held = false;          // a branch that keeps its test, because it or a node below it is pinned or hand-written
    std::vector<std::uint64_t> prior_counts;       // observations, by outcome, added to the node's answer; empty: none
    std::uint64_t prior_n = 0;                     // sum of prior_counts
    std::vector<std::uint64_t> seen_since_pinned;  // observations, by outcome, that reached a pinned leaf

    void clear_prior() {
        prior_counts.clear();
        prior_n = 0;
    }
};

/// A new node first counts the kept transitions that reach it (replay.cpp).
enum class ReplayStage : std::uint8_t {
    done,              // or never needed
    awaiting_replay,   // has not counted the kept transitions yet
    awaiting_decision  // has counted them; decides in the next transition
};

struct Node {
    static constexpr std::uint64_t kNever = 0;  // transitions are counted from 1

    // ---- structure ----
    NodeId parent = kNoNode;
    NodeId left = kNoNode, right = kNoNode;  // of a branch: where the test holds, and where it fails
    std::uint16_t depth = 0;                 // tests above it; at most max_depth
    bool settled = false;                    // a branch below which everything is explained (see Tree::count_targets)
    ReplayStage replay = ReplayStage::done;
    VariableClasses variable_classes;  // of the variables that are bound when the node is reached
    Test test;                         // of a branch
    CandidateId test_candidate;        // position of the test among the candidates, if it is one of them
    UncountedTest uncounted_test;      // of a branch that learns, if its test is none of them

    // ---- learning ----
    std::uint64_t last_reached = kNever;  // transition (Tree::transitions) in which a target last reached it
    NodeStats stats;
    std::uint64_t next_look = 0;  // value of stats.n before which no second look may change its test
    Candidates candidates;

    // ---- edits ----
    NodeEdits edits;

    [[nodiscard]] bool is_leaf() const { return left == kNoNode; }
    /// Observations of an outcome that it answers with: what it has counted, and its prior.
    [[nodiscard]] std::uint64_t answer_count(std::size_t outcome) const {
        return stats.totals[outcome] + (edits.prior_counts.empty() ? 0 : edits.prior_counts[outcome]);
    }
    /// Makes room for so many outcomes.
    void fit_outcomes(std::size_t outcomes);
    /// Adds up the counts of outcomes that are merged; `new_place` says where each outcome goes, of `outcomes`.
    void merge_outcomes(std::vector<std::uint32_t> const& new_place, std::size_t outcomes);
    [[nodiscard]] std::size_t bytes() const;  // with what it owns
};

/// A node and all below it, in preorder (left before right).
[[nodiscard]] std::vector<NodeId> subtree(std::vector<Node> const& nodes, NodeId root);

}  // namespace treethink
