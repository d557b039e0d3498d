#include "looks/frame_choice.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "learning/candidates.hpp"

namespace treethink {

namespace {

constexpr std::uint64_t fewest_transitions = 16;
constexpr std::uint64_t frame_phases = 16;

std::uint64_t half_doublings(std::uint64_t n) {
    auto const exponent = static_cast<unsigned>(std::bit_width(n)) - 1;
    return std::uint64_t{2} * exponent + (n >> (exponent - 1)) % 2;
}

}  // namespace

bool is_choice_due(std::uint64_t transitions, std::size_t phase) {
    if (transitions <= fewest_transitions) return false;
    auto const turn = [&](std::uint64_t n) {
        return half_doublings(n * (frame_phases + phase % frame_phases) / frame_phases);
    };
    return turn(transitions) != turn(transitions - 1);
}

Log length_of_outcome(Frame const& frame, VectorView outcome, std::size_t length) {
    return frame.jumps && outcome.empty() ? length_of_value(Vector(length, 0)) : length_of_value(outcome);
}

FrameChoice::FrameChoice(std::vector<Frame> frames, Frame const& current) : current_(current) {
    for (Frame const& frame : frames) tallies_.push_back({frame, true, {}, {}});
}

void FrameChoice::add(SlotId slot, State const& before, State const& after) {
    ++transitions_;
    std::size_t const rows = before.column(slot)->rows();
    targets_ += rows;
    value_length_ = before.column(slot)->length();
    for (Tally& tally : tallies_) {
        FrameView const view(tally.frame, before, slot);
        tally.possible = tally.possible && (!tally.frame.jumps || view.has_source());
        for (Row row = 0; row < rows && tally.possible; ++row) add_target(tally, view, after.value(slot, row), row);
    }
}

void FrameChoice::add_target(Tally& tally, FrameView const& view, VectorView value, Row row) {
    auto outcome = view.outcome(row, value);
    tally.possible = outcome.has_value();
    if (!tally.possible) return;
    ++(view.is_jump(row, value) ? tally.jumps : tally.counts)[*std::move(outcome)];
    tally.possible = tally.counts.size() <= max_outcomes || is_current(tally);
}

// A jump is taken for a change that has come elsewhere. If each of them is, the frame says no more than changes do.
void FrameChoice::count_jumps(Tally& tally) {
    std::uint64_t jumps = 0;
    for (auto const& [change, n] : std::exchange(tally.jumps, {})) {
        auto const known = tally.counts.find(change);
        (known == tally.counts.end() ? jumps : known->second) += n;
    }
    if (jumps > 0) tally.counts[{}] += jumps;
    bool const says_more = !tally.frame.jumps || jumps > 0;
    tally.possible = tally.possible && says_more && (tally.counts.size() <= max_outcomes || is_current(tally));
}

Log FrameChoice::length_of_choice(Frame const& frame) const {
    LogTables const& logs = LogTables::get();
    return logs.number(2) + (frame == tallies_.front().frame ? 0 : logs.number(tallies_.size() - 1));
}

Log FrameChoice::length_of_outcomes(Tally const& tally) const {
    Log length = 0;
    for (auto const& [outcome, count] : tally.counts) length += length_of_outcome(tally.frame, outcome, value_length_);
    return length;
}

Log FrameChoice::length(Tally const& tally) const {
    LogTables const& logs = LogTables::get();
    Log length = length_of_choice(tally.frame) + length_of_outcomes(tally);
    std::uint64_t n = 0;
    for (auto const& [outcome, count] : tally.counts) {
        length -= logs.odd_product(count);
        n += count;
    }
    return length + logs.step_product(tally.counts.size(), n);
}

// In the frame in which rules begin, a tree may do better although its outcomes are more.
std::vector<Frame> FrameChoice::rivals(Criterion const& criterion, std::uint64_t transitions) {
    for (Tally& each : tallies_) count_jumps(each);
    if (targets_ == 0 || (transitions_ < enough_transitions && transitions_ < transitions)) return {};
    auto const current = std::find_if(tallies_.begin(), tallies_.end(), [&](auto& each) { return is_current(each); });
    auto const may_win = [&](Tally const& each) {
        if (&each == &tallies_.front() || current == tallies_.end() || !current->possible) return true;
        auto const is_shorter = [&](Log own, Log rival) {
            return criterion.surely_better(static_cast<double>(-rival), static_cast<double>(-own), targets_);
        };
        return is_shorter(length(*current), length(each)) ||
               is_shorter(length_of_outcomes(*current), length_of_outcomes(each));
    };
    std::vector<std::pair<Log, Frame>> rivals;
    for (Tally const& each : tallies_)
        if (each.possible && !is_current(each) && may_win(each)) rivals.emplace_back(length(each), each.frame);
    std::stable_sort(rivals.begin(), rivals.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<Frame> frames;
    for (auto const& [length, frame] : rivals)
        if (frames.size() < max_rivals || frame == tallies_.front().frame) frames.push_back(frame);
    return frames;
}

}  // namespace treethink
