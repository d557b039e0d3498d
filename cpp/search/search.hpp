// search.hpp - Monte-Carlo tree search with the pUCT rule (uniform prior), over any transition model.
//
//   simulate():
//     node = root
//     until an outcome is new, or the horizon is reached:
//         selection   choose the action with the highest pUCT score at the node
//         expansion   if the action was never tried here, ask the model for its outcome, which costs one
//                     prediction; if the outcome is random, sample it at every visit
//         node = the outcome's node
//     backup          from the last node to the root, update visit counts and mean returns
//
// The reward of a step is the change of the game's score, or what the model says (RewardSource). What comes after a
// step counts as much as it is probable that the episode goes on. A new node has value 0: there is no rollout.
//
// States that differ only in a score that is planned for, at the same depth, share a node (transpositions): the paper's
// tree is a directed acyclic graph here. Actions with random outcomes have several outcomes (chance nodes).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/state.hpp"
#include "search/random.hpp"
#include "search/transition_model.hpp"

namespace treethink {

/// Which action is the best one when the search is over.
enum class FinalChoice { most_visits, highest_value };

/// Where the rewards of steps come from.
enum class RewardSource { score, model };

struct SearchSettings {
    /// Factor on the value of a reward for each step that it lies in the future.
    double discount = 1;
    /// Exploration constant of pUCT: larger values try actions more evenly.
    double exploration = 1.25;
    /// Whether equal states at the same depth share a node.
    bool transpositions = true;
    FinalChoice choice = FinalChoice::most_visits;
    RewardSource rewards = RewardSource::score;
};

/// Smallest and largest of some values, to scale values to [0, 1].
struct MinMax {
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();

    void update(double value) {
        min = std::min(min, value);
        max = std::max(max, value);
    }
    [[nodiscard]] double normalize(double value) const { return max > min ? (value - min) / (max - min) : 0; }
};

class Search {
public:
    using NodeId = std::uint32_t;

    /// A state that an action may lead to.
    struct Outcome {
        NodeId node;
        Int score_change;  // 0 unless that is the reward
        double reward;
        double continuation;  // probability that the episode goes on
        std::uint64_t visits = 0;
        double total_return = 0;  // of random outcomes only: visits x return, as of the last visit
    };
    /// The outcomes of an action with random outcomes.
    struct ChanceNode {
        std::unique_ptr<StateDistribution> distribution;
        std::unordered_multimap<std::uint64_t, std::size_t> outcomes_by_hash;  // hash of the state -> outcome
        double total_return = 0;                                               // sum over all outcomes
    };
    /// An action at a node.
    struct Edge {
        std::uint64_t visits = 0;
        std::vector<Outcome> outcomes;
        std::unique_ptr<ChanceNode> chance;  // null: the outcome is certain, so there is at most one
        StepFeedback expected;               // by the model's prediction
    };
    struct Node {
        State state;               // with the root's score where predictions do not depend on the score
        std::uint64_t depth;       // steps since the search was reset
        std::uint64_t visits = 1;  // the first one is the node's creation, with value 0
        double value = 0;          // mean return
        std::vector<Edge> edges;   // by action; empty until one is tried
    };
    /// One step of the principal variation.
    struct Step {
        ActionId action;
        State state;
    };

    /// Throws SettingError when the state's schema has no actions, or no score where that is planned for; StateError as
    /// `reset`.
    Search(State const& state, SearchSettings settings, std::uint64_t seed);

    /// Clears the tree and makes `state` the root; random numbers continue. Unless `forget_score`, nodes keep the
    /// score of the earlier root where predictions do not depend on it, so that a cache of predictions stays valid.
    /// Throws StateError when the state has another schema, or not exactly one game where its score is planned for.
    void reset(State const& state, bool forget_score = true);
    /// Makes the node that `action` led to the root, and keeps the tree below it. `state` is what followed.
    /// False, changing nothing, when the search has no such node.
    bool advance(ActionId action, State const& state);

    /// One simulation of at most `horizon` steps. If the model throws, visits and values are unchanged.
    void simulate(TransitionModel& model, std::uint64_t horizon);

    /// The action to take. Before any simulation: the first.
    [[nodiscard]] ActionId best_action() const { return best_action(root()); }
    /// The mean return of an action that was tried.
    [[nodiscard]] double value(Edge const& edge) const;
    /// The best action, its most frequent outcome, the best action there, and so on.
    [[nodiscard]] std::vector<Step> principal_variation() const;
    [[nodiscard]] bool plans_for_score() const { return score_.has_value(); }

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] Node const& root() const { return nodes_.front(); }
    [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }
    /// Takes all chance nodes out of the tree. Nothing may be simulated after that.
    [[nodiscard]] std::vector<std::unique_ptr<ChanceNode>> release_chance_nodes();
    /// Number of predictions that were asked for, since construction.
    [[nodiscard]] std::uint64_t predictions() const { return predictions_; }

private:
    static constexpr NodeId root_id = 0;

    struct PathStep {
        NodeId node;
        ActionId action;
        std::size_t outcome;  // position in the edge's outcomes
    };
    struct Visit {
        std::size_t outcome;  // position in the edge's outcomes
        bool is_new;          // whether this edge never had that outcome before
    };

    // selection
    [[nodiscard]] ActionId select_action(Node const& node);
    void compute_scores(Node const& node);
    // expansion
    Visit visit_edge(TransitionModel& model, NodeId at, ActionId action);
    Visit visit_outcome(TransitionModel& model, NodeId at, ActionId action, State const& next);
    [[nodiscard]] std::optional<std::size_t> find_outcome(Edge const& edge, Outcome const& wanted,
                                                          State const& state) const;
    [[nodiscard]] NodeId find_or_add_node(State state, std::uint64_t depth);
    // backup
    void backup();
    [[nodiscard]] double value(Outcome const& outcome) const;

    [[nodiscard]] ActionId best_action(Node const& node) const;
    void keep_only_below(NodeId new_root);
    [[nodiscard]] static std::uint64_t transposition_key(State const& state, std::uint64_t depth);
    [[nodiscard]] State node_state(State const& state) const;
    [[nodiscard]] Int score(State const& state) const { return state.value(*score_, 0)[0]; }

    std::shared_ptr<Schema const> schema_;
    SearchSettings settings_;
    std::optional<SlotId> score_;  // if its changes are the rewards
    bool ignores_score_;           // whether states that differ only in the score share a node
    Random tie_breaks_;            // two streams, so that random outcomes do not affect how ties are broken
    Random samples_;
    std::vector<Node> nodes_;                                             // the root first
    std::unordered_multimap<std::uint64_t, NodeId> transposition_table_;  // transposition_key -> node
    State root_state_;                                                    // the root with its actual score
    std::optional<MinMax> value_bounds_;  // of all edges visited since the first chance node; none before that
    std::uint64_t predictions_ = 0;

    // Working memory, kept between simulations.
    std::vector<PathStep> path_;
    std::vector<double> scores_;
};

}  // namespace treethink
