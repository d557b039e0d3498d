#include "qora/qora.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "learning/criterion.hpp"

namespace treethink {

using qora::Evaluator;
using qora::FactsOfConditions;
using qora::Predictor;

namespace {

double checked_alpha(double alpha) {
    if (alpha > 0 && alpha < 1) return alpha;
    throw SettingError("alpha must lie strictly between 0 and 1, got " + std::to_string(alpha));
}

bool is_zero(VectorView value) {
    return std::all_of(value.begin(), value.end(), [](Int each) { return each == 0; });
}

}  // namespace

Qora::Qora(std::shared_ptr<Schema const> schema, double alpha, std::uint64_t max_bytes)
    : schema_(std::move(schema)), alpha_(checked_alpha(alpha)), z_(two_sided_quantile(alpha)),
      rules_(schema_->slots().size() * schema_->actions().size()), effects_(schema_->slots().size()), facts_(*schema_) {
    memory_.max_bytes = max_bytes;
    memory_.bytes = sizeof *this + rules_.size() * sizeof(Rule);
}

std::uint64_t Qora::observations() const {
    auto const lock = lock_.for_reading();
    return observations_;
}

qora::MemoryUse Qora::memory_use() const {
    auto const lock = lock_.for_reading();
    return memory_;
}

// ---- observing ----

void Qora::check_schema(State const& state, char const* role) const {
    if (state.schema()->fits(*schema_)) return;
    throw StateError(std::string("the ") + role + " state is of another schema than the learner");
}

void Qora::check_memory() const {
    if (!memory_.exhausted && memory_.bytes <= memory_.max_bytes) return;
    throw ResourceError("qora has " + std::to_string(memory_.hypotheses) + " hypotheses and " +
                        std::to_string(memory_.conditions) + " conditions in " + std::to_string(memory_.bytes) +
                        " bytes after " + std::to_string(observations_) +
                        " observations, and learns no more; max_bytes is " + std::to_string(memory_.max_bytes));
}

void Qora::find_effects(SlotId slot, State const& before, State const& after) {
    Column const& old_column = *before.column(slot);
    Column const& new_column = *after.column(slot);
    Effects& effects = effects_[slot];
    effects.clear();
    bool const values = outcomes_are_values(slot);
    if (schema_->attribute(slot).derived) return;
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
    check_schema(before, "before");
    check_schema(after, "after");
    check_same_objects(before, after);
    auto const lock = lock_.for_writing();
    check_memory();
    for (std::size_t s = 0; s < effects_.size(); ++s) find_effects(SlotId(s), before, after);
    lock_.guard("learned observation", observations_ + 1, [&] {
        ++observations_;
        for (std::size_t c = 0; c < schema_->classes().size(); ++c) observe_class(ClassId(c), before, action);
    });
}

// The predictor that must learn from `effect`; null while the rule has shown one effect only.
Predictor* Qora::predictor_after(Rule& rule, VectorView effect) {
    if (rule.observations++ == 0) rule.first_effect.assign(effect.begin(), effect.end());
    if (!rule.predictor && !same(rule.first_effect, effect)) rule.predictor = std::make_unique<Predictor>(memory_);
    return rule.predictor.get();
}

// Objects in the order of their ids. Classes are independent of each other, but for the numbers of predicates.
void Qora::observe_class(ClassId class_id, State const& before, ActionId action) {
    qora::ObservationContext context{facts_, predicates_, evaluator_, z_, memory_};
    for (Row row = 0; row < before.rows(class_id); ++row) {
        bool target_is_set = false;  // facts are computed only if some predictor needs them
        for (AttributeId const attribute : schema_->classes()[class_id].attributes) {
            if (schema_->attributes()[attribute].derived) continue;  // it follows from the others
            SlotId const slot = *schema_->find_slot(class_id, attribute);
            std::size_t const length = schema_->length(slot);
            Buffer zero(length);
            VectorView const effect =
                effects_[slot].empty() ? zero.view() : VectorView(effects_[slot]).subspan(row * length, length);
            Predictor* const predictor = predictor_after(rule(slot, action), effect);
            if (predictor == nullptr) continue;
            if (!std::exchange(target_is_set, true)) facts_.set_target(before, {class_id, row}, predicates_);
            predictor->observe(context, effect);
        }
    }
}

// ---- predicting ----

Prediction Qora::predict(State const& state, ActionId action) const {
    check_schema(state, "given");
    auto const lock = lock_.for_reading();
    Prediction prediction(state, effects_.size());
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        Rule const& own = rule(SlotId(s), action);
        if (state.column(SlotId(s))->rows() == 0 || own.observations == 0) continue;
        if (own.predictor)
            predict_slot(SlotId(s), own, prediction);
        else
            predict_constant(SlotId(s), own, prediction);
    }
    return prediction;
}

void Qora::predict_constant(SlotId slot, Rule const& rule, Prediction& prediction) const {
    prediction.set_support(slot, rule.observations);
    if (!outcomes_are_values(slot) && is_zero(rule.first_effect)) return;
    for (Row row = 0; row < prediction.state().column(slot)->rows(); ++row) {
        prediction.begin(slot, row, rule.observations);
        add_outcome(slot, row, rule.first_effect, rule.observations, prediction);
    }
}

void Qora::predict_slot(SlotId slot, Rule const& rule, Prediction& prediction) const {
    State const& state = prediction.state();
    ClassId const class_id = schema_->slots()[slot].class_id;
    Predictor const& predictor = *rule.predictor;
    Evaluator evaluator;
    for (Row row = 0; row < state.column(slot)->rows(); ++row) {
        auto counts = predictor.effect_counts(FactsOfConditions(state, {class_id, row}, predicates_), evaluator);
        std::uint64_t total = 0;
        for (std::uint64_t const count : counts) total += count;
        if (total == 0) counts = {total = 1};  // a new case: predict the first effect, as if observed once
        prediction.begin(slot, row, total);
        for (std::size_t y = 0; y < counts.size(); ++y)
            if (counts[y] > 0) add_outcome(slot, row, predictor.effects()[y], counts[y], prediction);
    }
}

void Qora::add_outcome(SlotId slot, Row row, VectorView effect, std::uint64_t count, Prediction& prediction) const {
    bool const is_value = outcomes_are_values(slot);
    VectorView const old = prediction.state().value(slot, row);
    Buffer next(effect.size());
    for (std::size_t d = 0; d < old.size(); ++d)
        if (!add(is_value ? 0 : old[d], effect[d], next.data()[d]))
            throw StateError("a predicted value of '" + schema_->attributes()[schema_->slots()[slot].attribute].name +
                             "' does not fit 64 bits");
    prediction.add(next.view(), count);
}

}  // namespace treethink
