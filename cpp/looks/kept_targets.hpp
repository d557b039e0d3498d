// kept_targets.hpp - the targets that a look is about: a sample of those kept that reach a node.
//
// What matters is often rare: a car has too little fuel in one of fifty steps. So each outcome has the same share, as
// far as there are as many, and of frequent ones a part is drawn from all that is kept. Where outcomes depend on
// nothing, they depend on nothing in such a sample either. What is drawn follows from the values of objects, so that
// neither chance nor the order of objects plays a part.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "learning/tree.hpp"

namespace treethink {

/// A look at a leaf uses at most so many targets, a look at a branch so many, and a sketch of a rule so many.
inline constexpr std::size_t max_look_targets = 128, max_targets_of_branch = 512, max_sketch_targets = 512;
static_assert(max_targets_of_branch <= max_sketch_targets);

/// A set of them, by position. It takes as many words as there are targets to count.
class TargetSet {
public:
    TargetSet() = default;
    explicit TargetSet(std::size_t targets) : words_((targets + 63) / 64) {}
    /// All of so many targets.
    [[nodiscard]] static TargetSet all(std::size_t targets) {
        TargetSet set(targets);
        for (std::size_t t = 0; t < targets; ++t) set.set(t);
        return set;
    }

    void set(std::size_t target) { bits_[target / 64] |= std::uint64_t{1} << (target % 64); }
    [[nodiscard]] bool operator[](std::size_t target) const { return (bits_[target / 64] >> (target % 64) & 1) != 0; }
    [[nodiscard]] std::size_t count() const { return count_of_both(*this, *this); }
    [[nodiscard]] static std::size_t count_of_both(TargetSet const& a, TargetSet const& b) {
        std::uint64_t count = 0;
        for (std::size_t w = 0; w < a.words_; ++w) count += bits_in(a.bits_[w] & b.bits_[w]);
        return count;
    }
    TargetSet& operator|=(TargetSet const& other) {
        for (std::size_t w = 0; w < words_; ++w) bits_[w] |= other.bits_[w];
        return *this;
    }
    [[nodiscard]] TargetSet operator&(TargetSet const& other) const {
        TargetSet both = *this;
        for (std::size_t w = 0; w < words_; ++w) both.bits_[w] &= other.bits_[w];
        return both;
    }
    /// Those that are not in the other.
    [[nodiscard]] TargetSet operator-(TargetSet const& other) const {
        TargetSet rest = *this;
        for (std::size_t w = 0; w < words_; ++w) rest.bits_[w] &= ~other.bits_[w];
        return rest;
    }
    bool operator==(TargetSet const&) const = default;
    /// Adds the targets from `begin` to before `end`.
    void set_range(std::size_t begin, std::size_t end) {
        for (std::size_t w = begin / 64; w * 64 < end; ++w) {
            std::uint64_t word = ~std::uint64_t{0};
            if (begin > w * 64) word <<= begin - w * 64;
            if (end - w * 64 < 64) word &= ~(~std::uint64_t{0} << (end - w * 64));
            bits_[w] |= word;
        }
    }
    /// The first target from this one on, or the end of the set's words.
    [[nodiscard]] std::size_t next(std::size_t target) const {
        for (std::size_t w = target / 64; w < words_; ++w) {
            std::uint64_t const rest =
                bits_[w] & (w == target / 64 ? ~std::uint64_t{0} << (target % 64) : ~std::uint64_t{0});
            if (rest != 0) return w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        }
        return words_ * 64;
    }

private:
    // std::popcount is a call where processors need not have an instruction for it.
    [[nodiscard]] static std::uint64_t bits_in(std::uint64_t word) {
        word -= word >> 1 & 0x5555555555555555u;
        word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
        return ((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56;
    }

    std::array<std::uint64_t, max_sketch_targets / 64> bits_{};
    std::size_t words_ = 0;
};

/// A target of a kept transition that reaches a node.
struct KeptTarget {
    State const* before;  // its transition
    State const* after;
    std::uint64_t transition;  // differs between any two transitions of one look; counted from 1
    Bindings bindings;         // that arrive at the node
    std::uint32_t outcome;
};

/// Decides which targets of a rule are drawn. `transition` is counted from the most recent one.
[[nodiscard]] std::uint64_t hash_of_target(Tree const& tree, std::uint64_t transition, State const& before,
                                           State const& after, Tree::Target const& target);

/// Collects targets that reach a node, transition by transition, the most recent first.
class TargetCollector {
public:
    /// At most `max_targets` are taken.
    TargetCollector(Tree const& tree, NodeId node, std::size_t max_targets);

    /// Whether more transitions would not change what is taken.
    [[nodiscard]] bool is_full() const;
    /// Adds targets of one transition that reach the node. The states must outlive them.
    void add(std::vector<FactType> const& types, State const& before, State const& after,
             std::span<Tree::Target const> targets);
    /// Of each outcome in turn the next, the most recent first.
    [[nodiscard]] std::vector<KeptTarget> take();

private:
    // Of each outcome, at most so many are searched.
    static constexpr std::uint64_t searched_of_outcome = 4'000;

    struct Search {
        std::uint64_t max_hash;  // what is drawn
        std::uint64_t searched = 0, reached = 0;
    };
    struct Drawn {
        std::uint64_t hash;
        Tree::Target target;
    };

    [[nodiscard]] bool is_done(Search const& each) const {
        return each.searched >= searched_of_outcome || each.reached >= drawn_of_outcome_;
    }
    void search(std::vector<FactType> const& types, State const& before, State const& after,
                Tree::Target const& target);

    Tree const& tree_;
    NodeId node_;
    std::size_t max_targets_;
    std::uint64_t drawn_of_outcome_;  // of each outcome, about so many are drawn from those that reached the node
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
