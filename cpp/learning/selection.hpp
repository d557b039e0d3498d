// selection.hpp - which candidate of a node is best, and which ones to forget.
#pragma once

#include <compare>
#include <optional>

#include "learning/logs.hpp"
#include "learning/tree.hpp"

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

/// Order in which equally good tests are preferred: cheap ones (cost_of), near ones, then as they stand.
[[nodiscard]] std::strong_ordering canonical_order(std::vector<FactType> const& types, std::size_t variables,
                                                   Test const& a, Test const& b);

[[nodiscard]] Test test_of(Codes const& codes, Node const& node, CandidateId candidate);

/// The candidate with the highest score, canonical order deciding ties; `except` is not considered.
[[nodiscard]] std::optional<Best> best_candidate(Learning& learning, Node const& node,
                                                 std::optional<CandidateId> except);

/// What it takes to say which value a test asks for: small numbers are short.
[[nodiscard]] Log length_of_value(VectorView value);

/// Scores of no test and of a branch's own, as if no target shared its fate with another; and the own one's price.
[[nodiscard]] double score_without_test(Learning& learning, Node const& node);
[[nodiscard]] double score_of_test(Learning& learning, Node const& node);
[[nodiscard]] double price_of_test(Learning const& learning, Node const& node);

/// Where a node stands: scores of no test and of its current one, and what a challenger has to beat.
struct Standing {
    double none, now, to_beat;
};
[[nodiscard]] Standing standing(Learning& learning, Node const& node);

/// Drops the least useful candidates (fewest times true, then oldest, then least preferred) until `most`
/// are left; returns how many.
std::uint64_t forget_candidates(Learning& learning, Node& node, std::uint64_t most);

}  // namespace treethink
