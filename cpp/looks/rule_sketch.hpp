// rule_sketch.hpp - how long a rule would be if its outcomes were told in some frame.
//
// What a frame is good for shows in the tree that goes with it: a hunter's changes are many, but each follows from
// where its prey is. So a tree is sketched for each frame, over a sample of what is kept: the best test divides the
// targets, and so on in both halves, as long as that is surely better than no test. All frames have the same targets
// and tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "looks/kept_tests.hpp"

namespace treethink {

class RuleSketch {
public:
    /// `targets` of a rule, which bind its arguments.
    RuleSketch(LearningContext const& context, std::vector<ClassId> const& arguments,
               std::span<KeptTarget const> targets, std::uint64_t design_effect);

    /// The description lengths of the outcomes that come and of the tests, and the loss of the leaves, in Log units.
    /// `outcomes` are those of the targets, numbered from 0; `lengths` are theirs.
    [[nodiscard]] double length(std::span<std::uint32_t const> outcomes, std::span<Log const> lengths);

private:
    [[nodiscard]] double grow(LookSample const& sample, TargetSet const& targets, std::size_t depth);

    LearningContext const& context_;
    std::uint64_t design_effect_;
    std::vector<KeptTest> tests_;
    TargetSet all_;
};

}  // namespace treethink
