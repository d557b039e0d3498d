// outcomes.hpp - the outcomes of a rule: numbered in order of appearance, and told apart up to a limit.
//
// A clock, a sensor or a growing score has a new outcome again and again. Counters for each of them would
// take memory and time without bound, and hardly any comes twice. So beyond a limit, outcomes that came once and
// all new ones count as one: the others. A rule still learns when they come, but does not tell them apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/hash.hpp"
#include "core/vectors.hpp"

namespace treethink {

class Outcomes {
public:
    static constexpr std::size_t kNoOthers = ~std::size_t{0};

    /// By position. Empty are the one at others(), if there is one, and kStays or kJumps (see frame.hpp).
    [[nodiscard]] std::vector<Vector> const& values() const { return values_; }
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] bool empty() const { return values_.empty(); }
    /// Position of all outcomes that are not told apart, or kNoOthers.
    [[nodiscard]] std::size_t others() const { return others_; }
    [[nodiscard]] bool has_others() const { return others_ != kNoOthers; }
    /// Position of the outcome without components, kStays or kJumps, if it was added.
    [[nodiscard]] std::optional<std::uint32_t> bare() const { return find({}); }

    /// Position of an outcome that is told apart, or nothing.
    [[nodiscard]] std::optional<std::uint32_t> find(VectorView outcome) const;
    /// The same, but that of the others where there are some; nothing if the outcome must be added.
    [[nodiscard]] std::optional<std::uint32_t> find_or_others(VectorView outcome) const;
    /// Adds an outcome that is not there yet.
    void add(Vector outcome);
    /// From now on, outcomes that are not there count as one.
    void add_others();
    [[nodiscard]] std::size_t bytes() const;  // on the heap

private:
    // So many are found by comparing with each; more are found by their hash.
    static constexpr std::size_t few = 16;

    void index(std::size_t position);

    std::vector<Vector> values_;
    HashIndex by_hash_;  // positions; empty while there are few
    std::size_t others_ = kNoOthers;
};

}  // namespace treethink
