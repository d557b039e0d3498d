// kept_tests.hpp - what could be asked of kept targets, and of which of them it is true.
//
// Nodes count tests as they come, and keep no more than counts. A look goes back to what is kept and evaluates tests
// anew, pattern by pattern: for each value that came, the set of targets for which the test holds. Sets can be combined
// as counts cannot, so a look finds what counts do not show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/blocks.hpp"
#include "looks/kept_targets.hpp"

namespace treethink {

/// A test, and the targets of a look for which it holds.
struct KeptTest {
    Test test;
    Log description_length;
    TargetSet holds;
};

/// How many groundings a look may examine: patterns that need more are passed over.
struct LookBudget {
    std::uint64_t of_pattern = std::uint64_t{1} << 16;
    std::uint64_t left = std::uint64_t{1} << 17;  // for all patterns still to come
};

/// Appends all tests of a pattern that hold for any of the targets, if the budget allows, and returns whether it does.
/// `classes` are those of the variables that the targets bind.
bool append_tests(std::vector<FactType> const& types, std::vector<ClassId> const& classes, Pattern const& pattern,
                  std::span<KeptTarget const> targets, LookBudget& budget, std::vector<KeptTest>& tests);

}  // namespace treethink
