// frame_choice.hpp - which frame tells the outcomes of a rule most briefly.
//
// The length of a rule's outcomes in a frame is what it takes to say which frame it is, each outcome that came, and
// the sequence of outcomes, each predicted from those before it (KT estimator). All in Log units, as the scores of the
// criterion "evidence". Values that do not change are the same outcome in most frames; the others make the difference.
//
//   Model::choose_frames, at the end of an observation, for each rule for which is_choice_due(...):
//       FrameChoice choice(...); choice.add(...) for each kept target, the most recent first
//       if a frame is shorter by ln(1 / alpha) than that of the rule, with what its tests explain: grow its tree
//       again from what is kept
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/frame.hpp"
#include "learning/criterion.hpp"
#include "learning/fixed_point_log.hpp"

namespace treethink {

class FrameChoice {
public:
    /// Compares the outcomes of whole transitions until there are so many targets.
    static constexpr std::size_t max_targets = 2000;
    /// A frame in which there are more different outcomes than this is none to change to.
    static constexpr std::size_t max_outcomes = 32;
    /// Fewer transitions decide only if they are all there were.
    static constexpr std::size_t enough_transitions = 128;

    /// `frames` are those to choose from, the default first; `current` is that of the rule.
    FrameChoice(std::vector<Frame> frames, Frame const& current);

    [[nodiscard]] bool is_full() const { return targets_ >= max_targets; }
    /// Adds all objects of one kept transition, so that their order cannot matter.
    void add(SlotId slot, State const& before, State const& after);
    /// The shortest frame, if it is surely shorter than the current one. `transitions` that the rule has learned from;
    /// its tests explain so much of each target, which another frame would have to make up for.
    [[nodiscard]] std::optional<Frame> shorter(Criterion const& criterion, std::uint64_t transitions,
                                               double explained) const;

private:
    // The outcomes in one frame.
    struct Tally {
        Frame frame;
        bool possible = true;
        std::map<Vector, std::uint64_t> counts;
    };

    void add_target(Tally& tally, FrameView const& view, State const& before, State const& after, SlotId slot, Row row);
    [[nodiscard]] bool is_current(Tally const& tally) const { return tally.frame == current_; }
    [[nodiscard]] Log length(Tally const& tally) const;

    Frame current_;
    std::vector<Tally> tallies_;
    std::size_t targets_ = 0, transitions_ = 0;
};

/// Whether it is time to choose the frame of a rule that has learned from so many transitions: four times while their
/// number doubles. Rules whose `phase` differs mostly take different turns.
[[nodiscard]] bool is_choice_due(std::uint64_t transitions, std::size_t phase);

}  // namespace treethink
