#include "search/transition_model.hpp"

#include <utility>
#include <vector>

#include "model.hpp"

namespace treethink {

namespace {

class PredictionSampler final : public StateDistribution {
public:
    explicit PredictionSampler(Prediction prediction) : prediction_(std::move(prediction)) {}

    State sample(Random& random) override {
        numbers_.resize(prediction_.choices());
        for (double& each : numbers_) each = random.uniform();
        return prediction_.sample(numbers_);
    }

private:
    Prediction prediction_;
    std::vector<double> numbers_;
};

}  // namespace

PredictedTransition LearnedTransitionModel::predict(State const& state, ActionId action) {
    Prediction prediction = model_.predict(state, action, FactsMode::demand, BindingsMode::first);
    StepFeedback const feedback{prediction.expected(FeedbackKind::reward).value_or(0),
                                1 - prediction.expected(FeedbackKind::terminated).value_or(0)};
    if (prediction.choices() == 0) return {prediction.mode(), feedback};
    return {std::make_unique<PredictionSampler>(std::move(prediction)), feedback};
}

}  // namespace treethink
