#include "qora/qora.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>

#include "learning/criterion.hpp"

namespace treethink {

using qora::Evaluator;
using qora::FactsAsked;
using qora::Predictor;

namespace {

double checked(double alpha) {
    if (alpha > 0 && alpha < 1) return alpha;
    throw SettingError("alpha must lie strictly between 0 and 1, got " + std::to_string(alpha));
}

bool is_zero(VectorView value) {
    return std::all_of(value.begin(), value.end(), [](Int each) { return each == 0; });
}

}  // namespace

Qora::Qora(std::shared_ptr<Schema const> schema, double alpha, std::uint64_t max_bytes)
    : schema_(std::move(schema)), alpha_(checked(alpha)), z_(two_sided_quantile(alpha)),
      keys_(schema_->slots().size() * schema_->actions().size()), effects_(schema_->slots().size()), facts_(*schema_) {
    size_.most_bytes = max_bytes;
    size_.bytes = sizeof *this + keys_.size() * sizeof(Key);
}

std::uint64_t Qora::observations() const {
    std::shared_lock const lock(mutex_);
    return observations_;
}

qora::Size Qora::size() const {
    std::shared_lock const lock(mutex_);
    return size_;
}

// ---- observing ----

void Qora::check(State const& state, char const* role) const {
    if (state.schema() == schema_ || *state.schema() == *schema_) return;
    throw StateError(std::string("the ") + role + " state is of another schema than the learner");
}

void Qora::check_room() const {
    if (!size_.full && size_.bytes <= size_.most_bytes) return;
    throw ResourceError("qora has " + std::to_string(size_.hypotheses) + " hypotheses and " +
                        std::to_string(size_.conditions) + " conditions in " + std::to_string(size_.bytes) +
                        " bytes after " + std::to_string(observations_) +
                        " observations, and learns no more; max_bytes is " + std::to_string(size_.most_bytes));
}

void Qora::find_effects(SlotId slot, State const& before, State const& after) {
    Column const& old_column = *before.column(slot);
    Column const& new_column = *after.column(slot);
    Effects& effects = effects_[slot];
    effects.clear();
    bool const values = outcomes_are_values(slot);
    if (!values && (&old_column == &new_column || old_column == new_column)) return;
    effects = new_column.values();
    for (std::size_t i = 0; i < effects.size() && !values; ++i)
        if (!subtract(new_column.values()[i], old_column.values()[i], effects[i])) {
            auto const& [class_id, attribute] = schema_->slots()[slot];
            throw TransitionError("attribute '" + schema_->attributes()[attribute].name + "' of object " +
                                  std::to_string(before.roster()->ids(class_id)[i / old_column.length()]) +
                                  " changes by more than fits 64 bits: from " + std::to_string(old_column.values()[i]) +
                                  " to " + std::to_string(new_column.values()[i]));
        }
}

void Qora::observe(State const& before, ActionId action, State const& after) {
    check(before, "before");
    check(after, "after");
    check_same_objects(before, after);
    std::unique_lock const lock(mutex_);
    check_room();
    for (std::size_t s = 0; s < effects_.size(); ++s) find_effects(SlotId(s), before, after);
    ++observations_;
    for (std::size_t c = 0; c < schema_->classes().size(); ++c) observe_class(ClassId(c), before, action);
}

// Classes share nothing but the predicates' numbers, so within each the objects come in order of their ids.
void Qora::observe_class(ClassId class_id, State const& before, ActionId action) {
    qora::Observing observing{facts_, predicates_, evaluator_, z_, size_};
    Class const& own = schema_->classes()[class_id];
    for (Row row = 0; row < before.rows(class_id); ++row) {
        bool turned = false;
        for (AttributeId const attribute : own.attributes) {
            SlotId const slot = *schema_->find_slot(class_id, attribute);
            std::size_t const length = schema_->length(slot);
            Key& key = this->key(slot, action);
            Buffer zero(length);
            VectorView const effect =
                effects_[slot].empty() ? zero.view() : VectorView(effects_[slot]).subspan(row * length, length);
            if (key.seen++ == 0) key.first.assign(effect.begin(), effect.end());
            if (!key.predictor && same(key.first, effect)) continue;
            if (!key.predictor) key.predictor = std::make_unique<Predictor>(size_);
            if (!std::exchange(turned, true)) facts_.turn_to(before, {class_id, row}, predicates_);
            key.predictor->observe(observing, effect);
        }
    }
}

// ---- predicting ----

Prediction Qora::predict(State const& state, ActionId action) const {
    check(state, "given");
    std::shared_lock const lock(mutex_);
    Prediction prediction(state, effects_.size());
    for (std::size_t s = 0; s < effects_.size(); ++s)
        if (state.column(SlotId(s))->rows() > 0 && key(SlotId(s), action).seen > 0)
            predict_slot(SlotId(s), key(SlotId(s), action), prediction);
    return prediction;
}

void Qora::predict_slot(SlotId slot, Key const& key, Prediction& prediction) const {
    State const& state = prediction.state();
    auto const& [class_id, attribute] = schema_->slots()[slot];
    bool const values = outcomes_are_values(slot);
    Evaluator evaluator;
    Buffer next(schema_->length(slot));
    auto const add_outcome = [&](Row row, Vector const& effect, std::uint64_t count) {
        VectorView const old = state.value(slot, row);
        for (std::size_t d = 0; d < old.size(); ++d)
            if (!add(values ? 0 : old[d], effect[d], next.data()[d]))
                throw StateError("a predicted value of '" + schema_->attributes()[attribute].name +
                                 "' does not fit 64 bits");
        prediction.add(next.view(), count);
    };
    if (!key.predictor) {
        prediction.set_support(slot, key.seen);
        if (!values && is_zero(key.first)) return;
    }
    for (Row row = 0; row < state.column(slot)->rows(); ++row) {
        if (!key.predictor) {
            prediction.begin(slot, row, key.seen);
            add_outcome(row, key.first, key.seen);
            continue;
        }
        auto counts = key.predictor->answer(FactsAsked(state, {class_id, row}, predicates_), evaluator);
        std::uint64_t total = 0;
        for (std::uint64_t const count : counts) total += count;
        if (total == 0) counts = {total = 1};  // a new case: the effect that was seen first, once at least
        prediction.begin(slot, row, total);
        for (std::size_t y = 0; y < counts.size(); ++y)
            if (counts[y] > 0) add_outcome(row, key.predictor->effects()[y], counts[y]);
    }
}

}  // namespace treethink
