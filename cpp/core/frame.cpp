#include "core/frame.hpp"

#include <algorithm>
#include <utility>

namespace treethink {

namespace {

/// Whether a reference to `source` may tell values of `slot`.
struct SourceCheck {
    Schema const& schema;
    SlotId slot;

    // Names can be equal to those of the same unit only. What takes part in no facts is nobody's reference.
    [[nodiscard]] bool may_refer(SlotId source) const {
        Attribute const& own = schema.attribute(slot);
        Attribute const& other = schema.attribute(source);
        if (source == slot || other.facts.empty() || other.length != own.length) return false;
        if (own.is_symbolic() || other.is_symbolic()) return same_unit(source);
        return true;
    }
    // Of another class, the whole value is told by an attribute of the same unit only.
    [[nodiscard]] bool may_replace(SlotId source) const { return is_own(source) || same_unit(source); }
    [[nodiscard]] bool may_add(SlotId source) const { return !schema.attribute(slot).is_symbolic() && source != slot; }
    // An object's own sum is the value before and a step, which is another frame already.
    [[nodiscard]] bool may_replace_by_sum(SlotId sum) const {
        bool const compared = schema.compares_sum(schema.column(sum).attribute);
        return compared && !is_own(sum) && same_unit(sum) && !schema.attribute(slot).is_symbolic();
    }
    [[nodiscard]] bool is_own(SlotId source) const {
        return schema.column(source).class_id == schema.column(slot).class_id;
    }
    [[nodiscard]] bool same_unit(SlotId source) const {
        return schema.unit(schema.column(source).attribute) == schema.unit(schema.column(slot).attribute);
    }
};

}  // namespace

Frame default_frame(Attribute const& attribute, bool plain) {
    return attribute.starts_by_value() ? Frame{false, !plain, std::nullopt} : Frame{};
}

std::vector<Frame> possible_frames(Schema const& schema, SlotId slot) {
    Attribute const& own = schema.attribute(slot);
    std::vector<Frame> frames{default_frame(own, false)};
    auto const add = [&](Frame const& frame) {
        if (frames.size() < max_frames && frame != frames.front()) frames.push_back(frame);
    };
    if (own.outcomes == OutcomeForm::change || (own.facts.empty() && own.outcomes == OutcomeForm::automatic))
        return frames;
    for (bool const stays : {true, false}) add({false, stays, std::nullopt});
    if (own.outcomes == OutcomeForm::value) return frames;
    if (!own.is_symbolic()) add({});
    SourceCheck const check{schema, slot};
    for (std::size_t s = 0; s < schema.slots().size() && frames.size() < max_frames; ++s) {
        SlotId const source(s);
        if (!check.may_refer(source)) continue;
        for (bool const stays : {true, false}) {
            if (check.may_replace(source)) add({false, stays, source});
            if (check.may_add(source)) add({true, stays, source});
        }
    }
    for (std::size_t s = schema.slots().size(); s < schema.columns().size(); ++s)
        if (check.may_replace_by_sum(SlotId(s)))
            for (bool const stays : {true, false}) add({false, stays, SlotId(s)});
    // Where another frame is as short, it is the simpler one, so these come last.
    for (std::size_t i = 0, n = frames.size(); i < n && !own.is_symbolic(); ++i)
        if (frames[i].source && frames[i].stays && !frames[i].adds) add({true, false, frames[i].source, true});
    return frames;
}

FrameView::FrameView(Frame const& frame, State const& state, SlotId slot)
    : frame_(frame), state_(state), slot_(slot), symbolic_(state.schema()->attribute(slot).is_symbolic()),
      own_(frame.source && state.schema()->column(*frame.source).class_id == state.schema()->column(slot).class_id),
      has_source_(!frame.source || own_ || state.column(*frame.source)->rows() == 1) {}

template <class Apply>
bool FrameView::each_component(Row row, Apply&& apply) const {
    VectorView const before = state_.value(slot_, row);
    VectorView const other = frame_.source && !frame_.jumps ? source(row) : VectorView{};
    for (std::size_t i = 0; i < before.size(); ++i) {
        Int reference = frame_.adds ? before[i] : 0;
        if (!other.empty() && !add(reference, other[i], reference)) return false;
        if (!apply(reference, i)) return false;
    }
    return true;
}

bool FrameView::offset(Row row, VectorView value, Int* offset) const {
    if (!has_source_ && !frame_.jumps) return false;
    bool const only_equal = symbolic_ && frame_.source;
    return each_component(row, [&](Int reference, std::size_t i) {
        return subtract(value[i], reference, offset[i]) && !(only_equal && offset[i] != 0);
    });
}

std::optional<Vector> FrameView::outcome(Row row, VectorView value) const {
    if (frame_.stays && same(value, state_.value(slot_, row))) return Vector{};
    Vector outcome(value.size());
    return offset(row, value, outcome.data()) ? std::optional(std::move(outcome)) : std::nullopt;
}

bool FrameView::value(Row row, VectorView outcome, Int* value) const {
    if (outcome.empty()) {
        VectorView const same_value = frame_.jumps ? source(row) : state_.value(slot_, row);
        std::copy(same_value.begin(), same_value.end(), value);
        return true;
    }
    return each_component(row, [&](Int reference, std::size_t i) { return add(reference, outcome[i], value[i]); });
}

}  // namespace treethink
