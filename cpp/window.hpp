// window.hpp - the transitions that a model keeps, to learn from again.
//
// A child of a new split would start from nothing, although most of what it should know has been
// seen. So the last so many transitions are kept, and every new node first counts those that
// reach it. States share what did not change, so keeping them costs little; where much changes,
// fewer are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "core/state.hpp"

namespace treethink {

class Writer;
class Reader;

/// A transition, as it was observed.
struct Kept {
    State before, after;
    ActionId action;
    // Room, in integers, that is not shared with the state before: the last one's `after`, or `before`.
    std::uint64_t new_before = 0, new_after = 0;
};

/// The last `most` transitions, oldest first; fewer where they would take more room than `most_values` integers.
class Window {
public:
    static constexpr std::uint64_t most_values = std::uint64_t{1} << 23;

    explicit Window(std::uint64_t most) : most_(most) {}

    [[nodiscard]] bool keeps() const { return most_ > 0; }
    void keep(Kept transition);
    [[nodiscard]] std::deque<Kept> const& transitions() const { return kept_; }
    /// What would be freed with it: of what states share, every part once.
    [[nodiscard]] std::size_t bytes() const;

    void save(Writer& out) const;
    /// Reads into an empty window. Throws ModelFileError for anything that save() could not have written.
    void load(Reader& in, std::shared_ptr<Schema const> const& schema);

private:
    void forget_first();

    std::uint64_t most_;
    std::deque<Kept> kept_;
    std::uint64_t values_ = 0;  // room of all, what is shared once
};

}  // namespace treethink
