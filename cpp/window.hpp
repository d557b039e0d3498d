// window.hpp - the transitions that a model keeps, to learn from again.
//
// A child of a new split would start from nothing, although most of what it should know has been
// seen. So a window of the last transitions is kept, and every new node first counts those that
// reach it (replay.hpp). States share what did not change, so keeping them costs little; where much
// changes, fewer are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "core/feedback.hpp"
#include "core/state.hpp"

namespace treethink {

class Writer;
class Reader;

/// A transition, as it was observed.
struct KeptTransition {
    State before, after;
    ActionId action;
    Feedback feedback;
    std::uint64_t own_before = 0;  // integers in `before` that are not shared with `after` of the transition before
    std::uint64_t own_after = 0;   // integers in `after` that are not shared with `before`
};

/// The last `max_transitions` transitions, oldest first; fewer where they would take more than `max_values` integers.
class Window {
public:
    static constexpr std::uint64_t max_values = std::uint64_t{1} << 23;

    explicit Window(std::uint64_t max_transitions) : max_transitions_(max_transitions) {}

    [[nodiscard]] bool keeps() const { return max_transitions_ > 0; }
    void keep(KeptTransition transition);
    [[nodiscard]] std::deque<KeptTransition> const& transitions() const { return kept_; }
    /// Memory that it uses; what states share is counted once.
    [[nodiscard]] std::size_t bytes() const;

    void save(Writer& out) const;
    /// Reads into an empty window. Throws ModelFileError for anything that save() could not have written.
    void load(Reader& in, std::shared_ptr<Schema const> const& schema);
    /// Rewards and ends of the transitions: after the window, in files of models that were given some.
    void save_feedback(Writer& out) const;
    void load_feedback(Reader& in);

private:
    void forget_first();

    std::uint64_t max_transitions_;
    std::deque<KeptTransition> kept_;
    std::uint64_t values_ = 0;  // integers in all kept states; shared ones count once
};

}  // namespace treethink
