// qora.hpp - QORA, the predecessor that TreeThink is compared with, on the same states.
//
// There is one predictor (see predictor.hpp) for every class, attribute and action that has shown two
// effects. Conditions are never deleted, so memory may grow without end: beyond `max_bytes` no new
// conditions are made, and the next observation is refused. docs/qora.md describes the procedure.
// Calls may come from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inference/prediction.hpp"
#include "model_lock.hpp"
#include "qora/predictor.hpp"

namespace treethink {

class Qora {
public:
    /// Throws SettingError.
    Qora(std::shared_ptr<Schema const> schema, double alpha, std::uint64_t max_bytes);

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] double alpha() const { return alpha_; }
    [[nodiscard]] std::uint64_t max_bytes() const { return memory_.max_bytes; }
    [[nodiscard]] std::uint64_t observations() const;
    [[nodiscard]] qora::MemoryUse memory_use() const;

    /// Learns one transition. Throws StateError, TransitionError or, when `max_bytes` has been
    /// reached, ResourceError; then it has learned nothing.
    void observe(State const& before, ActionId action, State const& after);
    [[nodiscard]] Prediction predict(State const& state, ActionId action) const;

    /// Everything learned, in a form that depends on nothing but the stream (see file.hpp).
    [[nodiscard]] std::vector<std::uint8_t> save() const;
    /// Throws ModelFileError. Only for one that has observed nothing yet.
    void load(std::span<std::uint8_t const> bytes);

    /// Calls use(predictor, predicates), where the predictor may be null; nobody learns meanwhile.
    template <class Use>
    void with_predictor(SlotId slot, ActionId action, Use&& use) const {
        auto const lock = lock_.for_reading();
        use(rule(slot, action).predictor.get(), predicates_);
    }

private:
    // What one action does to one attribute of one class.
    struct Rule {
        std::uint64_t observations = 0;              // number of objects and transitions observed
        Vector first_effect;                         // the one observed first
        std::unique_ptr<qora::Predictor> predictor;  // null until a second effect is observed
    };
    // The effects of a transition on one slot, row by row; empty when nothing changes.
    using Effects = std::vector<Int>;

    [[nodiscard]] Rule const& rule(SlotId slot, ActionId action) const {
        return rules_[slot * schema_->actions().size() + action];
    }
    [[nodiscard]] Rule& rule(SlotId slot, ActionId action) { return rules_[slot * schema_->actions().size() + action]; }
    [[nodiscard]] bool outcomes_are_values(SlotId slot) const {
        return schema_->attributes()[schema_->slots()[slot].attribute].starts_by_value();
    }
    void check_schema(State const& state, char const* role) const;
    void check_memory() const;
    void find_effects(SlotId slot, State const& before, State const& after);
    void observe_class(ClassId class_id, State const& before, ActionId action);
    [[nodiscard]] qora::Predictor* predictor_after(Rule& rule, VectorView effect);
    void predict_slot(SlotId slot, Rule const& rule, Prediction& prediction) const;
    void predict_constant(SlotId slot, Rule const& rule, Prediction& prediction) const;
    void add_outcome(SlotId slot, Row row, VectorView effect, std::uint64_t count, Prediction& prediction) const;
    void load_predicates(Reader& in);
    void load_rule(Reader& in, SlotId slot, Rule& rule);

    std::shared_ptr<Schema const> schema_;
    double alpha_;
    double z_;  // quantile for alpha
    std::uint64_t observations_ = 0;
    qora::Predicates predicates_;
    std::vector<Rule> rules_;  // [slot][action]
    qora::MemoryUse memory_;

    // Working memory of observe().
    std::vector<Effects> effects_;  // by slot
    qora::TargetFacts facts_;
    qora::Evaluator evaluator_;
    ModelLock lock_;
};

}  // namespace treethink
