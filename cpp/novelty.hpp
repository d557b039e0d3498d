// novelty.hpp - whether an answer rests on something that was never seen.
//
// A rule answers every question, also about values that it never met: all tests fail, and the leaf at their end
// has a large support. So the tests on the path are asked which values they have met. Only values of determined
// objects count: those that a rule looks at by name, not "some wall", which is known however new its place is.
#pragma once

#include <optional>
#include <vector>

#include "inference/prediction.hpp"
#include "learning/tree.hpp"

namespace treethink {

/// Reports the first thing on the target's path that was never seen, or nothing. `counted_objects` says, by class, how
/// many objects a class had in every transition with that action; 0: their number differed.
std::optional<Novelty> find_novelty(Tree const& tree, Codes const& codes, State const& state, Row row,
                                    std::vector<std::size_t> const& counted_objects);

}  // namespace treethink
