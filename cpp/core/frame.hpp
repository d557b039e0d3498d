// frame.hpp - what the outcomes of a rule are relative to.
//
// An outcome tells the new value of an attribute as an offset from a reference. The reference is the value before, or
// zero; to either, a frame may add the value of another attribute: of the object itself (a heading, a velocity), or of
// the only object of another class (an exit, the agent that carries a key). And it may tell a value that does not
// change as `stays`, whatever the reference.
//
//   change   the value before                         value   zero
//   own      another attribute of the object          copy    an attribute of the only object of a class
//   jump     the value before; a value that is the same as that of the source is told as such
//
// In a jump frame, a step that happens to lead to the source can be told as a change, too (Model::tell_jumps).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/schema.hpp"
#include "core/state.hpp"
#include "core/vectors.hpp"

namespace treethink {

struct Frame {
    bool adds = true;              // the value before is part of the reference
    bool stays = false;            // a value that does not change has the outcome `stays`
    std::optional<SlotId> source;  // its value is part of the reference
    bool jumps = false;            // it is not: the value itself is the outcome `jumps`

    /// Outcomes are changes: of a value that does not change, zero.
    [[nodiscard]] bool is_change() const { return adds && !source; }
    bool operator==(Frame const&) const = default;
};

/// The outcome of a value that does not change, in frames that have it: it has no components.
inline constexpr VectorView kStays{};
/// The outcome of a value that becomes that of the source, in frames that jump: it has no components, either.
inline constexpr VectorView kJumps{};

/// The frame in which rules about an attribute begin. `plain`: without `stays`, as in the paper.
[[nodiscard]] Frame default_frame(Attribute const& attribute, bool plain);
/// The frames that rules of a slot may choose from, the default first; at most max_frames.
[[nodiscard]] std::vector<Frame> possible_frames(Schema const& schema, SlotId slot);
inline constexpr std::size_t max_frames = 64;

/// The objects of one slot in a state, seen in a frame.
class FrameView {
public:
    FrameView(Frame const& frame, State const& state, SlotId slot);

    /// Whether the source has a value: its class has exactly one object, or there is no source.
    [[nodiscard]] bool has_source() const { return has_source_; }
    /// Whether a value is that of the source, in a frame that jumps.
    [[nodiscard]] bool is_jump(Row row, VectorView value) const {
        return frame_.jumps && has_source_ && same(value, source(row));
    }
    /// Writes the offset that leads to a value; `value` has the length of the slot. False if it cannot be told: there
    /// is no reference, or the offset does not fit 64 bits, or names are not the same.
    [[nodiscard]] bool offset(Row row, VectorView value, Int* offset) const;
    /// The outcome that leads to a value, which may be kStays, but not kJumps; nothing if it cannot be told.
    [[nodiscard]] std::optional<Vector> outcome(Row row, VectorView value) const;
    /// Writes the value that an outcome leads to. False if it does not fit 64 bits. What it needs must be there.
    [[nodiscard]] bool value(Row row, VectorView outcome, Int* value) const;

private:
    // Calls `apply(reference, i)` for each component; false as soon as it is, or if the reference does not fit 64 bits.
    template <class Apply>
    [[nodiscard]] bool each_component(Row row, Apply&& apply) const;

    [[nodiscard]] VectorView source(Row row) const { return state_.value(*frame_.source, own_ ? row : 0); }

    Frame const& frame_;
    State const& state_;
    SlotId slot_;
    bool symbolic_;
    bool own_;  // the source is of the object itself
    bool has_source_;
};

}  // namespace treethink
