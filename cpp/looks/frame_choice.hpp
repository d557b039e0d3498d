// frame_choice.hpp - which frame tells a rule most briefly.
//
// The length of a rule in a frame is what it takes to say which frame it is, each outcome that came, the tests of the
// tree, and the outcomes in its leaves, each predicted from those before it (KT estimator). All in Log units, as the
// scores of the criterion "evidence". A tree is sketched (rule_sketch.hpp) for
// the rule's own frame, the one in which rules begin, and those whose outcomes are shorter, or told more briefly
// without a tree.
//
//   Model::choose_frames, at the end of an observation, for each rule for which is_choice_due(...):
//       FrameChoice choice(...); choice.add(...) for each kept target, the most recent first
//       of choice.rivals() and the rule's own frame: sketch a tree over a sample of what is kept
//       if a rival is shorter by ln(1 / alpha): grow the rule's tree again from what is kept
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

/// What it takes to say an outcome, in a frame of a slot with values of that length: a jump is an offset of zero from
/// the source.
[[nodiscard]] Log length_of_outcome(Frame const& frame, VectorView outcome, std::size_t length);

class FrameChoice {
public:
    /// Compares the outcomes of whole transitions until there are so many targets.
    static constexpr std::size_t max_targets = 2000;
    /// A frame in which there are more different outcomes than this is none to change to.
    static constexpr std::size_t max_outcomes = 32;
    /// Fewer transitions decide only if they are all there were.
    static constexpr std::size_t enough_transitions = 128;

    /// A rule whose outcomes leave less to explain keeps its frame.
    static constexpr Log min_loss = 16 * units_per_nat;
    /// Of the frames that may be shorter, so many are compared.
    static constexpr std::size_t max_rivals = 4;

    /// `frames` are those to choose from, the default first; `current` is that of the rule.
    FrameChoice(std::vector<Frame> frames, Frame const& current);

    [[nodiscard]] bool is_full() const { return targets_ >= max_targets; }
    /// Adds all objects of one kept transition, so that their order cannot matter.
    void add(SlotId slot, State const& before, State const& after);
    /// Frames that may be shorter than the current one, the likeliest first; `transitions` that the rule has learned
    /// from.
    [[nodiscard]] std::vector<Frame> rivals(Criterion const& criterion, std::uint64_t transitions);
    /// What it takes to say that it is this frame.
    [[nodiscard]] Log length_of_choice(Frame const& frame) const;

private:
    // The outcomes in one frame.
    struct Tally {
        Frame frame;
        bool possible = true;
        std::map<Vector, std::uint64_t> counts;
        std::map<Vector, std::uint64_t> jumps;  // by their changes; not in `counts` yet
    };

    void add_target(Tally& tally, FrameView const& view, VectorView value, Row row);
    void count_jumps(Tally& tally);
    [[nodiscard]] bool is_current(Tally const& tally) const { return tally.frame == current_; }
    [[nodiscard]] Log length_of_outcomes(Tally const& tally) const;
    [[nodiscard]] Log length(Tally const& tally) const;

    Frame current_;
    std::vector<Tally> tallies_;
    std::size_t targets_ = 0, transitions_ = 0, value_length_ = 0;
};

/// Whether it is time to choose the frame of a rule that has learned from so many transitions: twice while their number
/// doubles. Rules whose `phase` differs mostly take different turns.
[[nodiscard]] bool is_choice_due(std::uint64_t transitions, std::size_t phase);

}  // namespace treethink
