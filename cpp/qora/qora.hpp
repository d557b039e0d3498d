// qora.hpp - QORA, the predecessor that TreeThink is compared with, on the same states.
//
// One predictor for every class, attribute and action that has shown two effects (see
// qora_predictor.hpp). It keeps whatever it has ever thought of, so it may grow without end; beyond
// `max_bytes` it makes no new conditions, and refuses the next observation. docs/qora.md tells the
// procedure. Calls may come from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include "fair_mutex.hpp"
#include "inference/prediction.hpp"
#include "qora/predictor.hpp"

namespace treethink {

class Qora {
public:
    /// Throws SettingError.
    Qora(std::shared_ptr<Schema const> schema, double alpha, std::uint64_t max_bytes);

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] double alpha() const { return alpha_; }
    [[nodiscard]] std::uint64_t max_bytes() const { return size_.most_bytes; }
    [[nodiscard]] std::uint64_t observations() const;
    [[nodiscard]] qora::Size size() const;

    /// Learns one transition. Throws StateError, TransitionError or, when `max_bytes` has been
    /// reached, ResourceError; then it has learned nothing.
    void observe(State const& before, ActionId action, State const& after);
    [[nodiscard]] Prediction predict(State const& state, ActionId action) const;

    /// Everything learned, in a form that depends on nothing but the stream (see file.hpp).
    [[nodiscard]] std::vector<std::uint8_t> save() const;
    /// Throws ModelFileError. Only for one that has observed nothing yet.
    void load(std::span<std::uint8_t const> bytes);

    /// Calls look(predictor, predicates), where the predictor may be null, while nobody learns.
    template <class Look>
    void look_at(SlotId slot, ActionId action, Look&& look) const {
        std::shared_lock const lock(mutex_);
        look(key(slot, action).predictor.get(), predicates_);
    }

private:
    // What was seen of one attribute of one class after one action.
    struct Key {
        std::uint64_t seen = 0;
        Vector first;                                // effect
        std::unique_ptr<qora::Predictor> predictor;  // from the second effect on
    };
    // What a transition does to one slot, row by row; nothing when all stays as it is.
    using Effects = std::vector<Int>;

    [[nodiscard]] Key const& key(SlotId slot, ActionId action) const {
        return keys_[slot * schema_->actions().size() + action];
    }
    [[nodiscard]] Key& key(SlotId slot, ActionId action) { return keys_[slot * schema_->actions().size() + action]; }
    [[nodiscard]] bool outcomes_are_values(SlotId slot) const {
        return schema_->attributes()[schema_->slots()[slot].attribute].outcomes_are_values;
    }
    void check(State const& state, char const* role) const;
    void check_room() const;
    void find_effects(SlotId slot, State const& before, State const& after);
    void observe_class(ClassId class_id, State const& before, ActionId action);
    void predict_slot(SlotId slot, Key const& key, Prediction& prediction) const;
    void load_predicates(Reader& in);
    void load_key(Reader& in, SlotId slot, Key& key);

    std::shared_ptr<Schema const> schema_;
    double alpha_, z_;
    std::uint64_t observations_ = 0;
    qora::Predicates predicates_;
    std::vector<Key> keys_;  // [slot][action]
    qora::Size size_;

    std::vector<Effects> effects_;  // by slot
    qora::TargetFacts facts_;
    qora::Evaluator evaluator_;
    mutable FairMutex mutex_;
};

}  // namespace treethink
