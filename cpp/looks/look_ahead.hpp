// look_ahead.hpp - pairs of tests that explain together what neither explains alone.
//
// "A cell is on the right" is always true, and so is "some cell is a wall". Only together do they say that the way is
// blocked. Counts of single tests cannot show that. So a leaf that stays mixed is looked at two tests deep: each of the
// first tests divides the kept targets that reach the leaf, and in each half the best second test is found. Both are
// priced in full, by their description lengths. If that is surely better than no test, the leaf asks the first test
// from now on. Its children count what is kept, and find the second test by themselves.
//
//   Tree notes which leaves to look at while it decides; at the end of the observation, for each rule:
//   for each leaf that waits, if is_worth_while(leaf): decide(leaf, targets that reach it)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "looks/kept_tests.hpp"

namespace treethink {

class LookAhead {
public:
    /// A leaf that has counted fewer targets shows nothing.
    static constexpr std::uint64_t min_targets = 32;

    LookAhead(Tree& tree, LearningContext& context) : tree_(tree), context_(context) {}

    /// Whether there is enough to explain for two tests.
    [[nodiscard]] bool is_worth_while(NodeId leaf) const;
    /// Looks at a leaf; returns whether it has split.
    bool decide(NodeId leaf, std::span<KeptTarget const> targets);

private:
    Tree& tree_;
    LearningContext& context_;
};

}  // namespace treethink
