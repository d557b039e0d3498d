// tree.hpp - a first-order logical decision tree that is learned one transition at a time (TreeLearn).
//
// Every node counts, for each candidate test, how often it held together with each outcome.
// A leaf splits when its best candidate is surely better than no test; a branch changes its
// test for a surely better one, and becomes a leaf again when its test is not worth keeping.
//
//   observe(targets):   for each target: route it from the root, counting at every node
//                       for each node reached: forget candidates beyond the limit
//                       from the root down over nodes reached: decide
//
// Other files work on a tree: editing.cpp (what people change), replay.cpp (learning from kept
// transitions), serialize.cpp (files) and snapshot.cpp (copies for readers).
// docs/algorithm.md lists the paper's steps beside these functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coding/codes.hpp"
#include "core/frame.hpp"
#include "inference/routing.hpp"
#include "learning/context.hpp"
#include "learning/counting.hpp"
#include "learning/node.hpp"
#include "learning/outcomes.hpp"

namespace treethink {

/// What becomes of the codes of a fact type.
struct NewCodes {
    std::vector<Code> const* new_code = nullptr;  // by old code; null: they stay
    Code size = 0;                                // all codes are below this afterwards
};

/// A tree has at most so many arguments.
inline constexpr std::size_t max_arguments = 16;

class Tree {
public:
    /// An object (or several) whose outcome was seen; `outcome` is its position in outcomes().
    struct Target {
        std::span<Row const> arguments;
        std::uint32_t outcome;
    };

    /// Trees of one model share the tables of blocks. `frame` says what outcomes mean to those who have the tree.
    Tree(std::vector<ClassId> arguments, std::shared_ptr<BlockTables> tables, Frame frame = {})
        : arguments_(std::move(arguments)), tables_(std::move(tables)), frame_(frame) {}

    // ---- learning ----

    /// Adds outcomes in canonical order; those already known are ignored.
    void add_outcomes(std::vector<Vector> outcomes);
    /// The same, but when there are max_outcomes already, the rule looks like noise: new outcomes and all that came
    /// only once are merged, and are not told apart any more.
    void add_outcomes(LearningContext& context, std::vector<Vector> outcomes);
    /// Learns from a transition in which all `n` targets had the only outcome there is. Only while !varies().
    void observe_constant(std::uint64_t n);
    /// Learns from one transition. All outcomes have been added before.
    void observe(LearningContext& context, std::span<Target const> targets);

    /// Forgets everything that was learned; outcomes are told in that frame from now on.
    void restart(Frame const& frame) { *this = Tree(std::move(arguments_), std::move(tables_), frame); }

    // ---- inference ----

    /// Whether a node can answer by itself.
    [[nodiscard]] bool has_answer(NodeId node) const { return answer_total(node) > 0; }
    /// The leaf that a target reaches. `source` is FactsOnDemand or FactsInFull.
    template <class Source>
    [[nodiscard]] NodeId route(Source const& source, std::vector<FactType> const& types, std::span<Row const> arguments,
                               BindingsMode mode) const;
    /// The node whose counts a leaf answers with: itself, or if it has seen nothing its nearest
    /// ancestor that has. The root answers with all it ever saw, unless it has a prior.
    [[nodiscard]] NodeId answering_node(NodeId leaf) const;
    /// Whether most of what a node has seen are outcomes that are not told apart: then it predicts nothing.
    [[nodiscard]] bool is_mostly_others(NodeId node) const;
    /// Observations of an outcome in that node's answer, and of all outcomes. Outcomes that are not told apart are
    /// no part of an answer: they have no value.
    [[nodiscard]] std::uint64_t answer_count(NodeId node, std::size_t outcome) const {
        if (outcome == outcomes_.others()) return 0;
        return answers_with_all(node) ? seen_[outcome] : nodes_[node].answer_count(outcome);
    }
    [[nodiscard]] std::uint64_t answer_total(NodeId node) const;

    // ---- reading ----

    [[nodiscard]] std::vector<ClassId> const& arguments() const { return arguments_; }
    [[nodiscard]] Frame const& frame() const { return frame_; }
    /// Whether people have changed any node.
    [[nodiscard]] bool is_edited() const;
    [[nodiscard]] Outcomes const& outcomes() const { return outcomes_; }
    /// Observations by outcome, from the very first transition on.
    [[nodiscard]] std::vector<std::uint64_t> const& seen() const { return seen_; }
    [[nodiscard]] std::uint64_t transitions() const { return transitions_; }
    /// While only one outcome was ever seen there is nothing to learn, and there are no nodes, unless written by hand.
    [[nodiscard]] bool varies() const { return !nodes_.empty(); }
    /// The root first; places that were freed hold nodes without variables.
    [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }
    [[nodiscard]] std::vector<NodeId> preorder() const;
    /// How many nodes there are.
    [[nodiscard]] std::size_t size() const { return nodes_.size() - free_.size(); }
    /// How many candidates have been dropped for `max_candidates`.
    [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }
    /// Whether nodes wait for kept transitions (see TreeReplay).
    [[nodiscard]] bool awaits_replay() const { return !awaiting_replay_.empty(); }
    /// Whether nodes wait for a look at what is kept (see looks/).
    [[nodiscard]] bool awaits_look() const { return !awaiting_look_.empty(); }
    /// Whether looks may examine more groundings. From the last look that changed something on, they may examine so
    /// many at once, and a few more for each transition: where there is nothing to be found, they take a share of
    /// learning.
    [[nodiscard]] bool may_look() const { return look_work_ < look_work_at_once + earned_look_work(); }
    [[nodiscard]] std::uint64_t look_work() const { return look_work_; }
    void note_look_work(std::uint64_t groundings, bool changed) {
        look_work_ = changed ? earned_look_work() : look_work_ + groundings;
    }
    /// One look examines no more groundings.
    static constexpr std::uint64_t max_work_of_look = std::uint64_t{1} << 20;
    /// So looks cannot have examined more.
    [[nodiscard]] std::uint64_t max_look_work() const {
        return look_work_at_once + earned_look_work() + max_work_of_look;
    }
    /// A node that waits for a look, and whether that looks ahead.
    struct AwaitedLook {
        NodeId node;
        bool ahead;
    };
    /// These nodes, in preorder, each once; none waits any more.
    [[nodiscard]] std::vector<AwaitedLook> take_looks();
    [[nodiscard]] std::size_t bytes() const;

    /// Follows changes of codes, by fact type.
    void recode(std::vector<NewCodes> const& by_type);

private:
    friend class TreeEditor;
    friend class TreeReader;
    friend class TreeReplay;
    friend class SecondLook;
    friend class LookAhead;
    friend class FreshTree;

    [[nodiscard]] bool answers_with_all(NodeId node) const {
        return node == kRoot &&
               (nodes_.empty() || nodes_[kRoot].edits.prior_counts.empty() || own_answer_total(kRoot) == 0);
    }
    [[nodiscard]] std::uint64_t own_answer_total(NodeId node) const;
    [[nodiscard]] std::uint64_t earned_look_work() const {
        return look_work_later * std::min(transitions_, std::uint64_t{1} << 56);
    }
    [[nodiscard]] CountingTime counting_time() const { return {transitions_, stamp_}; }
    template <class Visit>
    NodeId walk(LearningContext& context, Target const& target, Visit&& visit);
    /// The same, counting the target at the nodes where should_count(node) says so. If it is one of a crowd, it is
    /// counted there when count_groups() is called.
    template <class ShouldCount>
    NodeId count_on_way(LearningContext& context, Target const& target, bool in_crowd, NodeShare const& share,
                        ShouldCount&& should_count);
    [[nodiscard]] bool add_to_group(LearningContext& context, Node const& node, std::uint32_t outcome) const;
    void count_groups(LearningContext& context, NodeShare const& share);
    /// What each of its nodes may count. A rule that looks like noise is taken to have as many outcomes as it may.
    [[nodiscard]] NodeShare node_share(LearningContext const& context) const;
    void count_targets(LearningContext& context, std::span<Target const> targets, NodeShare const& share);
    void count_unexplained(LearningContext& context, std::span<Target const> targets, NodeShare const& share);

    void merge_rare_outcomes();

    void decide(LearningContext& context);
    void decide_leaf(LearningContext& context, NodeId leaf);
    bool decide_branch(LearningContext& context, NodeId branch);
    [[nodiscard]] bool awaits_decision_below(NodeId branch) const;
    void set_test(LearningContext& context, NodeId node, CandidateId test, Decision kind);
    void make_leaf(LearningContext& context, NodeId branch);
    void record_event(LearningContext& context, NodeId node, Decision kind) const;

    void note_looks(LearningContext const& context, NodeId split_leaf);
    static void defer_look(Node& node);
    void note_look(LearningContext const& context, NodeId node, Log loss_before);
    [[nodiscard]] bool continues_look_ahead(LearningContext const& context, NodeId leaf) const;

    [[nodiscard]] NodeId add_node(NodeId parent, VariableClasses variable_classes);
    void count_candidates(NodeId node, std::vector<FactType> const& types);
    void add_children(NodeId node, std::vector<FactType> const& types);
    void remove_children(NodeId node);
    [[nodiscard]] std::string path(NodeId node) const;

    std::vector<ClassId> arguments_;  // classes of the objects that it is asked about
    std::shared_ptr<BlockTables> tables_;
    Frame frame_;
    Outcomes outcomes_;
    std::vector<std::uint64_t> seen_;      // observations, by outcome
    std::uint64_t transitions_ = 0;        // observed so far
    std::uint64_t stamp_ = 0;              // counts transitions, replayed ones too: tells any two apart
    std::vector<Node> nodes_;              // the root first
    std::vector<NodeId> free_;             // places in `nodes_` to use again
    std::uint64_t forgotten_ = 0;          // candidates
    std::vector<NodeId> awaiting_replay_;  // nodes; some may have been removed since, or be listed twice
    static constexpr std::uint64_t look_work_at_once = std::uint64_t{1} << 21, look_work_later = 32;
    std::uint64_t look_work_ = 0;             // groundings that looks have examined, see may_look()
    std::vector<AwaitedLook> awaiting_look_;  // until the end of the observation; nodes may be listed twice
};

/// Makes trees that share `codes` follow their changes.
void recode(std::span<Tree> trees, Codes const& codes, std::vector<Recoding> const& recodings);
/// Forgets codes that no candidate of any tree needs, where they have become many.
void collect_codes(std::span<Tree> trees, Codes& codes);

/// Visits the nodes on a target's way from the root to its leaf, which is returned. While visit(node) runs, the
/// bindings that arrive there are in `context.scratch`.
template <class Visit>
NodeId Tree::walk(LearningContext& context, Target const& target, Visit&& visit) {
    Bindings& bindings = context.scratch.bindings;
    bindings.width = target.arguments.size();
    bindings.rows.assign(target.arguments.begin(), target.arguments.end());
    return narrow(nodes_, FactsOnDemand(context.state), context.codes.types(), bindings, context.scratch.extended,
                  visit);
}

template <class ShouldCount>
NodeId Tree::count_on_way(LearningContext& context, Target const& target, bool in_crowd, NodeShare const& share,
                          ShouldCount&& should_count) {
    Node* asking = nullptr;  // the node before, if it has counted the target and its test is no candidate
    return walk(context, target, [&](Node& node) {
        if (asking != nullptr && &node == &nodes_[asking->left]) ++asking->uncounted_test.counts[target.outcome];
        bool const counted =
            should_count(node) && ((in_crowd && add_to_group(context, node, target.outcome)) ||
                                   count_target(context, node, target.outcome, counting_time(), share));
        asking = counted && node.uncounted_test.in_place() ? &node : nullptr;
    });
}

}  // namespace treethink
