// search.hpp - Monte-Carlo tree search with the pUCT rule, over anything that predicts.
//
// One simulation (Search::simulate) goes down from the root, at each node by the action that pUCT
// prefers, until it meets something new; that costs one prediction, and is worth nothing beyond the
// reward on the way there (prior: uniform, value: zero). Then it goes back up, and every node on the
// way learns its value anew from what lies below. Reward is the change of the game's score.
//
// States that differ in nothing but the score, at the same depth, are one node: what is a tree to the
// paper is a graph without cycles here. Where a prediction leaves something to chance, an action has
// several outcomes, and each visit draws one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/state.hpp"

namespace treethink {

/// Random numbers of a search, the same on every machine (SplitMix64).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    /// From 0 up to 1.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// Next states of which one is drawn, again at each visit.
class Chance {
public:
    virtual ~Chance() = default;
    virtual State draw(Random& random) = 0;
};

/// What follows: a state if that is certain, else what to draw it from.
using Foreseen = std::variant<State, std::unique_ptr<Chance>>;

/// Anything that predicts.
class Foresight {
public:
    virtual ~Foresight() = default;
    virtual Foreseen foresee(State const& state, ActionId action) = 0;
};

/// How to say which action is the best.
enum class Choice { visits, value };

struct SearchSettings {
    double discount = 1;
    /// How much is tried that does not look best.
    double exploration = 1.25;
    /// Equal situations are one node.
    bool merge = true;
    Choice choice = Choice::visits;
};

class Search {
public:
    using NodeId = std::uint32_t;

    /// A situation that an action may lead to.
    struct Outcome {
        NodeId node;
        Int reward;
        std::uint64_t count = 0;  // how often it was drawn
        double worth = 0;         // if drawn: all its returns together, as of the last time
    };
    /// Where chance has a say: what is drawn from, the outcomes by what they look like, and their worth together.
    struct Drawn {
        std::unique_ptr<Chance> chance;
        std::unordered_multimap<std::uint64_t, std::size_t> known;
        double worth = 0;
    };
    /// An action at a node.
    struct Edge {
        std::uint64_t visits = 0;
        std::vector<Outcome> outcomes;
        std::unique_ptr<Drawn> drawn;  // none: there is one outcome
    };
    struct Node {
        State state;  // with the score that the root had, if situations are told apart without it
        std::uint64_t depth;
        std::uint64_t visits = 1;  // the first of which valued it at 0
        double value = 0;
        std::vector<Edge> edges;  // by action; empty until one is tried
    };
    /// One step of what it expects to happen.
    struct Step {
        ActionId action;
        State state;
    };

    /// Throws SettingError when the state's schema has no actions, or no score to plan for; StateError as `start`.
    Search(State const& state, SearchSettings settings, std::uint64_t seed);

    /// Forgets everything but its random numbers, and is about to act in `state`. Situations keep the score that they
    /// had, so that what was foreseen elsewhere can be met again; unless it starts `anew`.
    /// Throws StateError when that has another schema, or not exactly one game.
    void start(State const& state, bool anew = true);
    /// The action was taken, and led to `now`: keeps what was found below it, and forgets the rest.
    /// False, and nothing happens, if that was not foreseen.
    bool follow(ActionId action, State const& now);

    /// Goes down once, at most `horizon` steps. What the foresight throws leaves visits and values as they were.
    void simulate(Foresight& foresight, std::uint64_t horizon);

    /// The action to take. Before any simulation: the first.
    [[nodiscard]] ActionId best() const { return best(root()); }
    /// The mean return of an action that was tried, by all that is known of what it leads to.
    [[nodiscard]] double value(Edge const& edge) const;
    /// What it expects: the best action, its likeliest outcome, and so on.
    [[nodiscard]] std::vector<Step> variation() const;

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] Node const& root() const { return nodes_.front(); }
    [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }
    /// Takes away all that is drawn from. Nothing may be simulated after that.
    [[nodiscard]] std::vector<std::unique_ptr<Drawn>> give_up();
    /// Predictions that were asked for, since the beginning.
    [[nodiscard]] std::uint64_t predictions() const { return predictions_; }

private:
    struct Taken {
        NodeId node;
        ActionId action;
        std::size_t outcome;
    };

    /// Smallest and largest of some values, by which others are measured.
    struct Range {
        double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
        void see(double value);
        [[nodiscard]] double share(double value) const { return high > low ? (value - low) / (high - low) : 0; }
    };

    [[nodiscard]] ActionId select(Node const& node);
    [[nodiscard]] double value(Outcome const& outcome) const;
    [[nodiscard]] ActionId best(Node const& node) const;
    /// The outcome of an action this time, and whether it is one that was not seen there before.
    std::pair<std::size_t, bool> step(Foresight& foresight, NodeId at, ActionId action);
    std::pair<std::size_t, bool> reach(NodeId at, ActionId action, State const& next);
    [[nodiscard]] std::optional<std::size_t> find(Edge const& edge, Int reward, State const& reached) const;
    [[nodiscard]] NodeId node_for(State state, std::uint64_t depth);
    void back_up();
    void keep_only(NodeId root);
    [[nodiscard]] std::uint64_t key(State const& state, std::uint64_t depth) const;
    [[nodiscard]] State situation(State const& state) const;
    [[nodiscard]] Int score(State const& state) const { return state.value(score_, 0)[0]; }

    std::shared_ptr<Schema const> schema_;
    SearchSettings settings_;
    SlotId score_;
    bool without_score_;  // situations are told apart without it
    Random ties_, draws_;
    std::vector<Node> nodes_;  // the root first
    std::unordered_multimap<std::uint64_t, NodeId> known_;
    State now_;                   // the root, with its own score
    std::optional<Range> range_;  // of all values of actions, since something was first left to chance
    std::uint64_t predictions_ = 0;
    std::vector<Taken> path_;
    std::vector<double> scores_;
};

class Model;

/// A model's own predictions, asked without leaving the engine.
class ModelForesight final : public Foresight {
public:
    explicit ModelForesight(Model const& model) : model_(model) {}
    Foreseen foresee(State const& state, ActionId action) override;

private:
    Model const& model_;
};

}  // namespace treethink
