// fresh_tree.hpp - a shorter tree for a rule that is explained.
//
// A tree grows test by test, and its first tests are chosen when little has been seen. What they get wrong later is
// patched below them, and once everything is explained again, nothing is left that would tell one test from another.
// So when a rule has been patched and is explained again, and when its transitions have doubled, a fresh tree is grown
// at once. It takes the place of the old one if it explains all targets that the rule has ever learned from, and its
// tests are shorter by ln(1 / alpha). All of them must still be kept: a tree cannot win by what was drawn, or
// forgotten.
//
// It is grown over a sample with an equal share of each leaf of the old tree, since each leaf stands for something that
// had to be told apart. If the fresh tree mixes outcomes of other targets, it is grown again, and what it mixed has a
// share of its own.
//
//   at the end of an observation, for a rule whose new nodes have counted what is kept, or that is_due(transitions), if
//   is_worth_while(tree):
//       FreshTree fresh(...); fresh.add(...) for each kept transition, the most recent first, until it is full
//       if fresh.find(): fresh.plant(); its nodes count what is kept
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "looks/kept_tests.hpp"

namespace treethink {

class FreshTree {
public:
    /// The fresh tree must explain all kept targets. If these are more, the old tree stays.
    static constexpr std::size_t max_compared = std::size_t{1} << 15;
    /// The fresh tree is grown over so many of them.
    static constexpr std::size_t max_sampled = 128;
    static_assert(max_sampled <= max_sketch_targets);
    /// A tree with more tests stays as it is, and the fresh one has no more, either.
    static constexpr std::size_t max_tests = 32;

    FreshTree(Tree& tree, LearningContext& context) : tree_(tree), context_(context) {}

    /// Whether it is time to try: whenever the number of transitions has doubled. Rules whose `phase` differs mostly
    /// take different turns.
    [[nodiscard]] static bool is_due(std::uint64_t transitions, std::size_t phase);
    /// Whether everything is explained by a tree that may be longer than it needs to be.
    [[nodiscard]] static bool is_worth_while(Tree const& tree);
    [[nodiscard]] bool is_full() const { return targets_.size() > max_compared; }
    /// Adds the targets of one kept transition. The state must outlive them.
    void add(State const& before, State const& after, std::span<Tree::Target const> targets);
    /// Grows a fresh tree; returns whether it explains everything and surely is shorter.
    [[nodiscard]] bool find();
    /// Puts it in the place of the old one.
    void plant();

private:
    struct FreshNode {
        std::vector<ClassId> variable_classes;
        NodeId left = kNoNode, right = kNoNode;
        Test test{};
        Log description_length = 0;

        [[nodiscard]] bool is_leaf() const { return left == kNoNode; }
    };
    struct ComparedTarget {
        State const* before;
        Row row;  // of its argument, if it has one
        std::uint32_t outcome;
        std::uint64_t hash;
        NodeId fresh_leaf;
        std::size_t part;  // of those that are told apart
    };

    void set_arguments(ComparedTarget const& target, Bindings& bindings) const;
    [[nodiscard]] std::vector<KeptTarget> sample() const;
    [[nodiscard]] Log length_of_old() const;
    [[nodiscard]] bool grow();
    [[nodiscard]] bool grow_below(NodeId at, std::vector<KeptTarget> const& targets);
    [[nodiscard]] bool find_test(FreshNode& node, std::vector<KeptTarget> const& targets, TargetSet& holds);
    [[nodiscard]] bool is_shorter(Log length) const;
    [[nodiscard]] bool explains_all();
    void divide_parts();
    void plant_at(NodeId at, NodeId from);

    Tree& tree_;
    LearningContext& context_;
    std::vector<ComparedTarget> targets_;
    std::uint64_t transitions_ = 0;
    std::vector<FreshNode> nodes_;  // the root first
    LookBudget budget_{};
    Log length_ = 0, length_of_old_ = 0;  // of the tests
};

}  // namespace treethink
