// context.hpp - what the trees of a model share while they learn.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coding/codes.hpp"
#include "inference/routing.hpp"
#include "learning/criterion.hpp"

namespace treethink {

inline constexpr std::uint64_t default_max_counters = std::uint64_t{1} << 26;

struct Settings {
    double alpha = 0.01;                     // significance level, see Criterion
    std::string criterion = "wilson";        // name, see make_criterion
    bool branch_updates = true;              // whether branches may change their tests (the paper's ablation)
    std::uint64_t max_candidates = 100'000;  // of one node; beyond it the least useful are forgotten
    std::uint64_t max_outcomes = 1'024;      // that a rule tells apart; beyond it, it looks like noise
    std::uint64_t memory = 0;                // transitions that are kept for new nodes
    // Of all rules of a model that vary, which share them equally (see NodeShare).
    std::uint64_t max_counters = default_max_counters;
};

/// A leaf got a test, a branch got another one, or a branch became a leaf; or outcomes are no longer told apart, or are
/// told in another frame.
enum class Decision { split, change, revert, noise, frame };

/// One decision of a tree.
struct Event {
    Decision kind;
    std::string path;          // of the node: L and R from the root
    std::optional<Test> test;  // the node's new test
    std::size_t variables;     // bound when the node is reached
};

/// A target that is counted at a node together with the others that reach it in the same transition. It has one
/// binding there.
struct GroupMember {
    NodeId node;
    std::uint32_t outcome;
    std::size_t binding;  // where its rows begin in Scratch::member_rows
};

/// Scratch space that learning uses again and again.
struct Scratch {
    // Counting (NodeCounter).
    std::vector<std::uint32_t> marks;   // by code: epoch in which it was counted last
    std::uint32_t epoch = 0;            // current one
    std::vector<std::uint32_t> tally;   // by code: groundings; zero between uses
    std::vector<Code> tallied;          // codes with a tally
    std::vector<Code> excluded;         // codes that hold only for objects which are bound already
    std::vector<std::uint32_t> chosen;  // indices of distinct bindings
    std::vector<std::uint32_t> read_variables;
    std::array<std::vector<Row>, 2> rows;                  // by argument: objects that a new variable cannot be
    std::vector<std::uint64_t> partner_codes, true_codes;  // sets of codes (many_bindings.cpp)
    std::vector<Row> always_taken;                         // see NodeCounter::rows_always_taken()
    // Counting of groups.
    std::vector<GroupMember> members;
    std::vector<Row> member_rows;
    std::vector<Count> running_totals;                       // of a node, member by member
    std::vector<std::pair<Code, std::uint32_t>> exclusions;  // code, and outcome of the member it is false of
    std::vector<bool> is_member;                             // by row
    // Routing.
    Bindings bindings, extended;
    std::vector<NodeId> open;            // nodes to decide
    std::vector<NodeId> settled_leaves;  // by target: its leaf if that is below a settled branch, else kNoNode
    // Scoring.
    std::vector<Count> counts;
    std::vector<double> scores;
};

/// Everything that a tree needs from outside to learn from one transition.
struct LearningContext {
    Codes& codes;
    Criterion const& criterion;
    Settings const& settings;
    Scratch& scratch;
    State const& state;          // before the transition; `codes` are those of its facts
    std::vector<Event>& events;  // decisions are appended
    std::size_t varying_rules;   // of the model, when the transition began

    /// Whether nodes are looked at again over what is kept (looks/).
    [[nodiscard]] bool takes_looks() const {
        return settings.memory > 0 && settings.branch_updates && criterion.looks_ahead();
    }
};

}  // namespace treethink
