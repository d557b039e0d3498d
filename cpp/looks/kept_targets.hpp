// kept_targets.hpp - the targets that a look is about: a sample of those kept that reach a node.
//
// What matters is often rare: a car has too little fuel in one of fifty steps. So each outcome has the same share, as
// far as there are as many, and of frequent ones a part is drawn from all that is kept. Where outcomes depend on
// nothing, they depend on nothing in such a sample either. What is drawn follows from the values of objects, so that
// neither chance nor the order of objects plays a part.
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
    State const* before;       // its transition
    State const* after;
    std::uint64_t transition;  // differs between any two transitions of one look; counted from 1
    Bindings bindings;         // that arrive at the node
    std::uint32_t outcome;
};

/// Collects targets that reach a node, transition by transition, the most recent first.
class TargetCollector {
public:
    TargetCollector(Tree const& tree, NodeId node);

    /// Whether more transitions would not change what is taken.
    [[nodiscard]] bool is_full() const;
    /// Adds targets of one transition that reach the node. The states must outlive them.
    void add(std::vector<FactType> const& types, State const& before, State const& after,
             std::span<Tree::Target const> targets);
    /// At most max_look_targets: of each outcome in turn the next, the most recent first.
    [[nodiscard]] std::vector<KeptTarget> take();

private:
    // Of each outcome, about so many are drawn from those that reached the node, and at most so many are searched.
    static constexpr std::uint64_t drawn_of_outcome = 2 * max_look_targets, searched_of_outcome = 1'000;

    struct Search {
        std::uint64_t max_hash;  // what is drawn
        std::uint64_t searched = 0, reached = 0;
        [[nodiscard]] bool is_done() const { return searched >= searched_of_outcome || reached >= drawn_of_outcome; }
    };
    struct Drawn {
        std::uint64_t hash;
        Tree::Target target;
    };

    [[nodiscard]] std::uint64_t hash_of_target(State const& before, Tree::Target const& target) const;
    void search(std::vector<FactType> const& types, State const& before, State const& after,
                Tree::Target const& target);

    Tree const& tree_;
    NodeId node_;
    std::vector<Search> by_outcome_;
    std::vector<KeptTarget> targets_;
    std::uint64_t transition_ = 0;
    std::vector<Drawn> drawn_;
    Bindings bindings_, extended_;
};

/// The outcomes of some targets. They are numbered anew: those that came.
class LookSample {
public:
    /// `outcomes` by target. `design_effect` is that of the node: the sample says nothing about it.
    LookSample(std::span<std::uint32_t const> outcomes, std::uint64_t design_effect);
    LookSample(std::span<KeptTarget const> targets, std::uint64_t design_effect)
        : LookSample(outcomes_of(targets), design_effect) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t outcomes() const { return by_outcome_.size(); }
    [[nodiscard]] Sample sample() const { return {totals_, design_effect_}; }
    /// How many of a set of targets had each outcome.
    void count(TargetSet const& targets, std::vector<Count>& counts) const;

private:
    [[nodiscard]] static std::vector<std::uint32_t> outcomes_of(std::span<KeptTarget const> targets);

    std::size_t size_;
    std::uint64_t design_effect_;
    std::vector<Count> totals_;
    std::vector<TargetSet> by_outcome_;
};

}  // namespace treethink
