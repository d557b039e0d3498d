// feedback.hpp - what belongs to a whole transition besides the state after: its reward, and whether it ended the
// episode.
//
// Both are learned by rules of their own, whose trees are about no object: all their variables are introduced by tests.
// An outcome of such a rule is one integer.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/vectors.hpp"

namespace treethink {

enum class FeedbackKind : std::uint8_t { reward, terminated };
inline constexpr std::size_t feedback_kinds = 2;

/// The integer that stands for a finite reward: different ones for different rewards, in the same order.
[[nodiscard]] inline Int outcome_of_reward(double reward) {
    auto const bits = std::bit_cast<Int>(reward == 0 ? 0.0 : reward);  // there is no -0
    return bits < 0 ? bits ^ std::numeric_limits<Int>::max() : bits;
}

[[nodiscard]] inline double reward_of_outcome(Int outcome) {
    return std::bit_cast<double>(outcome < 0 ? outcome ^ std::numeric_limits<Int>::max() : outcome);
}

/// Whether an integer is an outcome of rules of that kind.
[[nodiscard]] inline bool is_outcome(FeedbackKind kind, Int outcome) {
    if (kind == FeedbackKind::terminated) return outcome == 0 || outcome == 1;
    double const reward = reward_of_outcome(outcome);
    return std::isfinite(reward) && outcome_of_reward(reward) == outcome;
}

/// What is known of a transition; nothing is learned from what is not.
struct Feedback {
    std::optional<double> reward;  // finite
    std::optional<bool> terminated;

    [[nodiscard]] bool empty() const { return !reward && !terminated; }
    [[nodiscard]] std::optional<Int> outcome(FeedbackKind kind) const {
        if (kind == FeedbackKind::reward) return reward ? std::optional(outcome_of_reward(*reward)) : std::nullopt;
        return terminated ? std::optional(Int{*terminated}) : std::nullopt;
    }
};

}  // namespace treethink
