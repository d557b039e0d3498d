// replay.hpp - new nodes learn from kept transitions.
//
// With a memory, a new node first counts the kept transitions that reach it. What it has counted may call for a
// decision, which waits for the next transition (of any rule), so that no observation waits for more than one replay.
//
//   add(node); count(targets) for each kept transition; finish(); in the next transition: decide()
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "learning/tree.hpp"

namespace treethink {

/// The nodes of one tree that wait for kept transitions, or for the decision after them (ReplayStage).
class TreeReplay {
public:
    explicit TreeReplay(Tree& tree) : tree_(tree) {}

    /// Notes one kept transition in a tree that has restarted; from the second outcome on, there is a root that waits.
    void add_seen(LearningContext& context, std::span<Tree::Target const> targets);
    /// Makes a new node wait for kept transitions.
    void add(NodeId node);
    /// Counts one kept transition at the nodes that wait. Most reach none of them: set_codes() is called, perhaps more
    /// than once, before the codes of its facts are needed.
    void count(LearningContext& context, std::span<Tree::Target const> targets, std::function<void()> const& set_codes);
    /// Ends the replay: the nodes now wait for their decision.
    void finish(LearningContext& context);
    /// Lets those nodes decide, unless the current transition has reached them: then they have decided already.
    void decide(LearningContext& context);

    /// Which nodes wait for their decision, as places in preorder.
    [[nodiscard]] static std::vector<std::size_t> undecided(Tree const& tree);
    /// The same, when loading. Throws ModelFileError if one of them is no leaf.
    void set_undecided(std::vector<std::size_t> const& places);

private:
    static void name_planted_test(LearningContext const& context, Node& node);

    Tree& tree_;
};

}  // namespace treethink
