// choosing.hpp - which candidate of a node is best, and which ones to forget.
#pragma once

#include <compare>
#include <optional>

#include "tree.hpp"

namespace treethink {

/// Where a candidate's counters are.
struct CandidateId {
    std::size_t block;
    Code code;
};

struct Best {
    CandidateId candidate;
    double score;
};

/// Order in which equally good tests are preferred: cheap ones, near ones, then as they stand.
///
/// A test costs 1 for each new variable, 1 more for each that it does not tie to an existing one,
/// and 1 when it names an absolute vector: the rule a person would write comes first.
[[nodiscard]] std::strong_ordering canonical_order(std::vector<FactType> const& types, std::size_t variables,
                                                   Test const& a, Test const& b);

[[nodiscard]] Test test_of(Codes const& codes, Node const& node, CandidateId candidate);

/// The candidate with the highest score, canonical order deciding ties; `except` is not considered.
[[nodiscard]] std::optional<Best> best_candidate(Learning& learning, Node const& node,
                                                 std::optional<CandidateId> except);

/// The node's score for a candidate, and for no test.
[[nodiscard]] double score_of(Learning& learning, Node const& node, CandidateId candidate);
[[nodiscard]] double score_of_none(Learning& learning, Node const& node);

/// Drops the least useful candidates (fewest times true, then oldest, then least preferred) until `most`
/// are left; returns how many.
std::uint64_t forget_candidates(Learning& learning, Node& node, std::uint64_t most);

}  // namespace treethink
