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

/// What is expected of a step besides the next state.
struct StepFeedback {
    double reward = 0;
    double continuation = 1;  // probability that the episode goes on
};

struct PredictedTransition {
    /// The next state if it is certain, else a distribution to sample it from.
    std::variant<State, std::unique_ptr<StateDistribution>> next;
    StepFeedback feedback{};
};

class TransitionModel {
public:
    TransitionModel() = default;
    virtual ~TransitionModel() = default;
    TransitionModel(TransitionModel const&) = delete;
    TransitionModel& operator=(TransitionModel const&) = delete;

    virtual PredictedTransition predict(State const& state, ActionId action) = 0;
    /// Feedback of a step to a given state; `expected` is that of the prediction.
    virtual StepFeedback feedback(State const& /*before*/, ActionId /*action*/, State const& /*after*/,
                                  StepFeedback expected) {
        return expected;
    }
};

/// The transitions that a learned model predicts, with the rewards and ends that it has learned.
class LearnedTransitionModel final : public TransitionModel {
public:
    explicit LearnedTransitionModel(Model const& model) : model_(model) {}
    PredictedTransition predict(State const& state, ActionId action) override;

private:
    Model const& model_;
};

}  // namespace treethink
