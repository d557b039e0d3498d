// snapshot.hpp - a copy of a tree for readers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "learning/tree.hpp"

namespace treethink {

/// A tree as it was at one moment, nodes in preorder.
struct TreeSnapshot {
    struct Candidate {
        Test test;
        std::vector<Count> counts;  // observations in which it held, by outcome
    };
    struct Node {
        std::optional<std::size_t> left, right;  // places in `nodes`
        std::vector<ClassId> variable_classes;
        std::vector<std::uint64_t> counts;  // observations, by outcome: counted ones and the prior
        std::optional<Test> test;
        bool pinned = false, hand_written = false, has_prior = false;  // see NodeEdits
        std::vector<std::uint64_t> seen_since_pinned;                  // observations, by outcome
        std::vector<Candidate> candidates;                             // in canonical order
    };
    std::uint64_t transitions = 0;
    Frame frame;
    std::vector<Vector> outcomes;  // see Outcomes
    std::size_t others = Outcomes::kNoOthers;
    std::vector<std::uint64_t> seen;  // observations, by outcome
    std::vector<Node> nodes;
};

/// Copies a tree. Candidates are copied only when asked for: there are thousands.
[[nodiscard]] TreeSnapshot take_snapshot(Tree const& tree, Codes const& codes, bool with_candidates);

}  // namespace treethink
