// kept_targets.hpp - the targets that a look is about: the most recent of those kept that reach a node.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "learning/tree.hpp"

namespace treethink {

/// A look uses at most so many targets.
inline constexpr std::size_t max_look_targets = 128;
/// A set of them, by position.
using TargetSet = std::bitset<max_look_targets>;

/// A target of a kept transition that reaches a node.
struct KeptTarget {
    State const* before;       // of its transition
    std::uint64_t transition;  // differs between any two transitions of one look; counted from 1
    Bindings bindings;         // that arrive at the node
    std::uint32_t outcome;
};

/// Collects the targets that reach a node, transition by transition, the most recent first.
class TargetCollector {
public:
    /// Searches at most so many targets, of all leaves.
    static constexpr std::size_t max_searched = 4000;

    TargetCollector(Tree const& tree, NodeId node) : tree_(tree), node_(node) {}

    [[nodiscard]] bool is_full() const { return targets_.size() >= max_look_targets || searched_ >= max_searched; }
    /// Adds the targets of one transition that reach the node, until there are enough. `before` must outlive them.
    void add(std::vector<FactType> const& types, State const& before, std::span<Tree::Target const> targets);
    [[nodiscard]] std::vector<KeptTarget> take() { return std::move(targets_); }

private:
    Tree const& tree_;
    NodeId node_;
    std::vector<KeptTarget> targets_;
    std::size_t searched_ = 0;
    std::uint64_t transition_ = 0;
    Bindings bindings_, extended_;
};

/// The outcomes of some targets. They are numbered anew: those that came.
class LookSample {
public:
    LookSample(std::span<KeptTarget const> targets, Criterion const& criterion);

    [[nodiscard]] std::size_t size() const { return stats_.n; }
    [[nodiscard]] std::size_t outcomes() const { return by_outcome_.size(); }
    [[nodiscard]] Sample sample() const { return stats_.sample(); }
    /// How many of a set of targets had each outcome.
    void count(TargetSet const& targets, std::vector<Count>& counts) const;

private:
    NodeStats stats_;
    std::vector<TargetSet> by_outcome_;
};

}  // namespace treethink
