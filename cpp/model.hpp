// model.hpp - all rules of a world: whole transitions in, whole predictions out.
//
// A rule is the tree of one class, attribute and action. Calls may come from several threads:
// predictions run side by side, an observation waits for them and they for it.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fair_mutex.hpp"
#include "inference/prediction.hpp"
#include "learning/tree.hpp"
#include "window.hpp"

namespace treethink {

/// A decision in one of the model's trees.
struct ModelEvent {
    SlotId slot;
    ActionId action;
    Event event;
    std::uint64_t observation;  // transitions observed, this one included
};

struct ModelSize {
    std::size_t bytes = 0, nodes = 0, candidates = 0, forgotten = 0, kept = 0, varying = 0;
};

class Model {
public:
    /// Throws SettingError.
    Model(std::shared_ptr<Schema const> schema, Settings settings);

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] Settings const& settings() const { return settings_; }
    [[nodiscard]] std::uint64_t observations() const;

    /// Learns one transition and returns the decisions it led to.
    /// Throws StateError or TransitionError, having learned nothing.
    std::vector<ModelEvent> observe(State const& before, ActionId action, State const& after);

    [[nodiscard]] Prediction predict(State const& state, ActionId action, FactsMode facts, BindingsMode bindings) const;

    [[nodiscard]] TreeSnapshot snapshot(SlotId slot, ActionId action, bool with_candidates) const {
        std::shared_lock const lock(mutex_);
        return tree(slot, action).snapshot(codes_, with_candidates);
    }
    [[nodiscard]] ModelSize size() const;

    // What people change in a rule (editing.cpp); each throws RuleError, having changed nothing. See Tree.
    void replace(SlotId slot, ActionId action, std::string_view path, std::vector<Written> const& nodes);
    void pin(SlotId slot, ActionId action, std::string_view path);
    void unpin(SlotId slot, ActionId action, std::string_view path);
    void keep_child(SlotId slot, ActionId action, std::string_view path, bool left, bool merge);
    /// How often that has happened to this very object: who remembers its answers asks.
    [[nodiscard]] std::uint64_t edits() const;

    /// Everything learned, in a form that depends on nothing but the stream (see file.hpp).
    /// Without the memory, a loaded model starts with an empty window.
    [[nodiscard]] std::vector<std::uint8_t> save(bool with_memory = true) const;
    /// Throws ModelFileError. Only for a model that has observed nothing yet.
    void load(std::span<std::uint8_t const> bytes);

private:
    // What a transition does to one slot.
    struct Effect {
        bool unchanged = false;     // every outcome is zero
        std::vector<Int> outcomes;  // row by row; a single one when unchanged

        [[nodiscard]] VectorView outcome(std::size_t row, std::size_t length) const {
            return {outcomes.data() + (unchanged ? 0 : row * length), length};
        }
    };

    [[nodiscard]] Tree const& tree(SlotId slot, ActionId action) const {
        return trees_[slot * schema_->actions().size() + action];
    }
    [[nodiscard]] Tree& tree(SlotId slot, ActionId action) { return trees_[slot * schema_->actions().size() + action]; }
    void check(State const& state, char const* role) const;
    void find_effect(SlotId slot, State const& before, State const& after, Effect& effect) const;
    [[nodiscard]] bool will_vary(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows) const;
    void learn(SlotId slot, ActionId action, Learning& learning, Effect const& effect);
    void set_targets(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows);
    void decide_seeded(Learning& learning, std::vector<ModelEvent>& events);
    void replay(ActionId action);
    void seed(std::vector<std::pair<SlotId, ActionId>> const& fresh);
    void was_edited(Tree& tree);
    void save_seeded(Writer& out) const;
    [[nodiscard]] std::vector<std::pair<SlotId, ActionId>> load_seeded(Reader& in, std::vector<Tree>& trees) const;
    void load_window(Reader& in, Window& window, std::vector<Tree>& trees, Codes& codes) const;
    void take_events(SlotId slot, ActionId action, std::vector<ModelEvent>& events);

    std::shared_ptr<Schema const> schema_;
    Settings settings_;
    std::unique_ptr<Criterion const> criterion_;
    Codes codes_;
    std::vector<Tree> trees_;  // [slot][action]
    std::uint64_t observations_ = 0, edits_ = 0;
    Window window_;
    std::vector<std::pair<SlotId, ActionId>> seeded_;  // trees with nodes that wait for a decision

    std::vector<Effect> effects_;
    std::vector<Row> every_row_;
    std::vector<Tree::Target> targets_;
    std::vector<Event> events_;
    Scratch scratch_;
    mutable FairMutex mutex_;
};

}  // namespace treethink
