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

/// How many groundings a look may examine, of one pattern and of all that are still to come.
struct LookBudget {
    std::uint64_t of_pattern;
    std::uint64_t left;
};

/// Appends the tests of these patterns that hold for any of the targets: the patterns that take the fewest groundings
/// first, as far as the budgets go, each as far as the one before does not. `classes` are those of the variables that
/// the targets bind.
void append_tests(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                  std::span<Pattern const> patterns, std::span<KeptTarget const> targets,
                  std::span<LookBudget* const> budgets, std::vector<KeptTest>& tests);

/// The shortest first, then in canonical order. The tests are of a node with so many variables.
void sort_by_length(std::vector<FactType> const& types, std::size_t variables, std::vector<KeptTest>& tests);

}  // namespace treethink
