// transition_model.hpp - what a search plans with: anything that predicts the next state.
#pragma once

#include <memory>
#include <variant>

#include "core/state.hpp"
#include "search/random.hpp"

namespace treethink {

class Model;

/// A distribution over next states.
class StateDistribution {
public:
    StateDistribution() = default;
    virtual ~StateDistribution() = default;
    StateDistribution(StateDistribution const&) = delete;
    StateDistribution& operator=(StateDistribution const&) = delete;

    virtual State sample(Random& random) = 0;
};

/// The next state if it is certain, else a distribution to sample it from.
using PredictedTransition = std::variant<State, std::unique_ptr<StateDistribution>>;

class TransitionModel {
public:
    TransitionModel() = default;
    virtual ~TransitionModel() = default;
    TransitionModel(TransitionModel const&) = delete;
    TransitionModel& operator=(TransitionModel const&) = delete;

    virtual PredictedTransition predict(State const& state, ActionId action) = 0;
};

/// The transitions that a learned model predicts.
class LearnedTransitionModel final : public TransitionModel {
public:
    explicit LearnedTransitionModel(Model const& model) : model_(model) {}
    PredictedTransition predict(State const& state, ActionId action) override;

private:
    Model const& model_;
};

}  // namespace treethink
