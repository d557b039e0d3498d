#include "learning/frame_choice.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "learning/candidates.hpp"

namespace treethink {

namespace {

constexpr std::uint64_t fewest_transitions = 8;
constexpr std::uint64_t frame_phases = 16;

std::uint64_t quarter_doublings(std::uint64_t n) {
    auto const exponent = static_cast<unsigned>(std::bit_width(n)) - 1;
    return std::uint64_t{4} * exponent + (n >> (exponent - 2)) % 4;
}

}  // namespace

bool is_choice_due(std::uint64_t transitions, std::size_t phase) {
    if (transitions <= fewest_transitions) return false;
    auto const turn = [&](std::uint64_t n) {
        return quarter_doublings(n * (frame_phases + phase % frame_phases) / frame_phases);
    };
    return turn(transitions) != turn(transitions - 1);
}

FrameChoice::FrameChoice(std::vector<Frame> frames, Frame const& current) : current_(current) {
    for (Frame const& frame : frames) tallies_.push_back({frame, true, {}});
}

void FrameChoice::add(SlotId slot, State const& before, State const& after) {
    ++transitions_;
    std::size_t const rows = before.column(slot)->rows();
    targets_ += rows;
    for (Tally& tally : tallies_) {
        FrameView const view(tally.frame, before, slot);
        for (Row row = 0; row < rows && tally.possible; ++row) add_target(tally, view, before, after, slot, row);
    }
}

void FrameChoice::add_target(Tally& tally, FrameView const& view, State const& before, State const& after, SlotId slot,
                             Row row) {
    VectorView const value = after.value(slot, row);
    Vector outcome;
    if (!tally.frame.stays || !same(value, before.value(slot, row))) {
        outcome.resize(value.size());
        tally.possible = view.offset(row, value, outcome.data());
        if (!tally.possible) return;
    }
    ++tally.counts[std::move(outcome)];
    tally.possible = tally.counts.size() <= max_outcomes || is_current(tally);
}

Log FrameChoice::length(Tally const& tally) const {
    LogTables const& logs = LogTables::get();
    Log length = logs.number(2);
    if (tally.frame != tallies_.front().frame) length += logs.number(tallies_.size() - 1);
    std::uint64_t n = 0;
    for (auto const& [outcome, count] : tally.counts) {
        length += length_of_value(outcome) - logs.odd_product(count);
        n += count;
    }
    return length + logs.step_product(tally.counts.size(), n);
}

std::optional<Frame> FrameChoice::shorter(Criterion const& criterion, std::uint64_t transitions,
                                          double explained) const {
    if (targets_ == 0 || (transitions_ < enough_transitions && transitions_ < transitions)) return std::nullopt;
    Tally const* best = nullptr;
    Tally const* current = nullptr;
    for (Tally const& each : tallies_) {
        if (is_current(each)) current = &each;
        if (each.possible && (best == nullptr || length(each) < length(*best))) best = &each;
    }
    if (best == nullptr || best == current) return std::nullopt;
    if (current == nullptr || !current->possible) return best->frame;
    auto const score = [&](Tally const& tally) { return -static_cast<double>(length(tally)); };
    double const to_beat = score(*current) + explained * static_cast<double>(targets_);
    bool const surely = criterion.surely_better(score(*best), to_beat, targets_);
    return surely ? std::optional(best->frame) : std::nullopt;
}

}  // namespace treethink
