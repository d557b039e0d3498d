// model.hpp - all rules of a world: whole transitions in, whole predictions out.
//
// A rule is the tree of one class, attribute and action. Calls may come from several threads:
// predictions run side by side, an observation waits for them and they for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/feedback.hpp"
#include "editing.hpp"
#include "inference/prediction.hpp"
#include "learning/tree.hpp"
#include "looks/frame_choice.hpp"
#include "looks/look_ahead.hpp"
#include "looks/second_look.hpp"
#include "model_lock.hpp"
#include "snapshot.hpp"
#include "window.hpp"

namespace treethink {

struct OutcomeLimits;

/// The rule of a slot and an action; those of feedback have slots after all others (see Model::feedback_slot).
using RuleId = std::pair<SlotId, ActionId>;

/// A decision in one of the model's trees.
struct ModelEvent {
    SlotId slot;
    ActionId action;
    Event event;
    std::uint64_t observation;  // transitions observed, this one included
};

struct ModelSize {
    std::size_t bytes = 0;
    std::size_t nodes = 0;
    std::size_t candidates = 0;
    std::size_t forgotten = 0;  // candidates dropped for max_candidates
    std::size_t kept = 0;       // transitions
    std::size_t varying = 0;    // rules that have seen more than one outcome, or were written by hand
};

/// The body of a model's file, and whether the model has learned feedback.
struct SavedModel {
    std::vector<std::uint8_t> bytes;
    bool with_feedback = false;
};

class Model final : public PredictionSource {
public:
    /// Throws SettingError.
    Model(std::shared_ptr<Schema const> schema, Settings settings);

    [[nodiscard]] std::shared_ptr<Schema const> const& schema() const { return schema_; }
    [[nodiscard]] Settings const& settings() const { return settings_; }
    [[nodiscard]] std::uint64_t observations() const;

    /// Throws StateError or TransitionError if observe() would refuse these states.
    void check(State const& before, State const& after) const;
    /// Learns one transition and returns the decisions it led to.
    /// Throws StateError or TransitionError, having learned nothing. Whatever else it throws leaves the model broken.
    std::vector<ModelEvent> observe(State const& before, ActionId action, State const& after,
                                    Feedback const& feedback = {});
    /// The slot of the rules of a kind of feedback, as if it were an attribute of the transition.
    [[nodiscard]] SlotId feedback_slot(FeedbackKind kind) const {
        return SlotId(schema_->slots().size() + static_cast<std::size_t>(kind));
    }
    /// The kind of feedback that the rules of a slot are about; nothing for those of attributes.
    [[nodiscard]] std::optional<FeedbackKind> feedback_kind(SlotId slot) const {
        std::size_t const slots = schema_->slots().size();
        return slot < slots ? std::nullopt : std::optional(static_cast<FeedbackKind>(slot - slots));
    }
    /// Whether feedback of that kind was ever given, or a rule about it written by hand.
    [[nodiscard]] bool learns_feedback(FeedbackKind kind) const;

    [[nodiscard]] Prediction predict(State const& state, ActionId action, FactsMode facts, BindingsMode bindings) const;

    /// What an answer rests on that the model, as it is now, has never seen (novelty.hpp).
    [[nodiscard]] std::optional<Novelty> novelty(State const& state, ActionId action, SlotId slot,
                                                 Row row) const override;
    /// The transitions in memory, oldest first.
    [[nodiscard]] std::vector<KeptTransition> kept() const {
        auto const lock = lock_.for_reading();
        return {window_.transitions().begin(), window_.transitions().end()};
    }

    [[nodiscard]] TreeSnapshot snapshot(SlotId slot, ActionId action, bool with_candidates) const;
    [[nodiscard]] ModelSize size() const;

    // Edits of a rule (editing.cpp, see TreeEditor); each throws RuleError, having changed nothing.
    void replace(SlotId slot, ActionId action, std::string_view path, std::vector<HandWrittenNode> const& nodes);
    void pin(SlotId slot, ActionId action, std::string_view path);
    void unpin(SlotId slot, ActionId action, std::string_view path);
    void keep_child(SlotId slot, ActionId action, std::string_view path, bool left, bool merge);
    /// How many edits this object has had: whoever caches its answers compares.
    [[nodiscard]] std::uint64_t edits() const;

    /// Everything learned, in a form that depends on nothing but the stream (see serialize.hpp).
    /// Without the memory, a loaded model starts with an empty window.
    [[nodiscard]] SavedModel save(bool with_memory = true) const;
    /// Throws ModelFileError. Only for a model that has observed nothing yet.
    /// `with_feedback`: as save() returned it with these bytes.
    void load(std::span<std::uint8_t const> bytes, bool with_feedback);

private:
    // What a transition does to the objects of one slot, or its feedback, in the frame of a rule.
    struct Effect {
        bool told = true;                // the frame can tell it
        bool unchanged = false;          // every outcome is zero, or every one is kStays
        std::vector<Int> outcomes;       // row by row; a single one when unchanged
        std::vector<std::uint8_t> bare;  // by row, whether the outcome is kStays or kJumps; empty: none is

        [[nodiscard]] VectorView outcome(std::size_t row, std::size_t length) const {
            return !bare.empty() && bare[unchanged ? 0 : row] != 0 ? VectorView{} : offset(row, length);
        }
        // The same of a jump if it is told as a change.
        [[nodiscard]] VectorView offset(std::size_t row, std::size_t length) const {
            return {outcomes.data() + (unchanged ? 0 : row) * length, length};
        }
        // Rows that may have outcomes of their own.
        [[nodiscard]] std::size_t distinct_rows(std::size_t rows) const { return unchanged ? 1 : rows; }
    };

    [[nodiscard]] Tree const& tree(SlotId slot, ActionId action) const {
        return trees_[slot * schema_->actions().size() + action];
    }
    [[nodiscard]] Tree& tree(SlotId slot, ActionId action) { return trees_[slot * schema_->actions().size() + action]; }
    [[nodiscard]] Attribute const& attribute(SlotId slot) const {
        return schema_->attributes()[schema_->slots()[slot].attribute];
    }
    [[nodiscard]] LearningContext context(State const& state) {
        return {codes_, *criterion_, settings_, scratch_, state, events_, varying_};
    }
    [[nodiscard]] std::vector<std::size_t> counted_objects(ActionId action) const;
    void check_schema(State const& state, char const* role) const;
    void check_difference(SlotId slot, State const& before, State const& after) const;
    [[noreturn]] void refuse_difference(SlotId slot, State const& before, State const& after, std::size_t i) const;
    template <class Edit>
    void edit(SlotId slot, ActionId action, std::string_view path, Edit const& edit);
    /// Whether rules predict the slot: it has objects, and is not derived from other ones.
    [[nodiscard]] bool is_predicted(SlotId slot, State const& before) const;
    // Number of targets that a transition has for the rules of a slot.
    [[nodiscard]] std::size_t count_targets(SlotId slot, State const& before, Feedback const& feedback) const;
    [[nodiscard]] std::size_t outcome_length(SlotId slot) const {
        return feedback_kind(slot) ? 1 : schema_->length(slot);
    }
    [[nodiscard]] bool has_feedback_rules() const { return effects_.size() > schema_->slots().size(); }
    void add_feedback_rules();
    [[nodiscard]] bool has_learned(FeedbackKind kind) const;
    void find_effect(Frame const& frame, SlotId slot, State const& before, State const& after, Feedback const& feedback,
                     Effect& effect) const;
    // The same in the frame of a rule, with the jumps that the rule takes for changes.
    void find_effect(Tree const& tree, SlotId slot, State const& before, State const& after, Feedback const& feedback,
                     Effect& effect) const;
    [[nodiscard]] bool has_ambiguous_jump(Tree const& tree, SlotId slot, Effect const& effect) const;
    void tell_jumps(Tree const& tree, SlotId slot, State const& before, Effect& effect) const;
    void tell_rows(Frame const& frame, SlotId slot, State const& before, State const& after, Effect& effect) const;
    [[nodiscard]] bool find_effects(State const& before, ActionId action, State const& after, Feedback const& feedback);
    [[nodiscard]] bool will_vary(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows) const;
    std::vector<ModelEvent> learn_transition(State const& before, ActionId action, State const& after,
                                             Feedback const& feedback, bool facts_needed);
    void learn(SlotId slot, ActionId action, LearningContext& context, Effect const& effect, std::size_t rows);
    void add_new_outcomes(Tree& tree, SlotId slot, LearningContext& context, Effect const& effect, std::size_t rows);
    void count_varying();
    void set_targets(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows);
    void take_events(SlotId slot, ActionId action, std::vector<ModelEvent>& events);

    void decide_replayed(LearningContext& context, std::vector<ModelEvent>& events);
    void replay_new_nodes(ActionId action);
    void replay_window(std::vector<RuleId> const& rules);
    bool replay_window(std::vector<RuleId> const& rules, bool ambiguous);

    /// In one observation, at most so many rules compare frames.
    static constexpr std::size_t max_choices = 4;
    /// Whether rules may change their frame: that takes kept transitions to grow again from.
    [[nodiscard]] bool chooses_frames() const;
    [[nodiscard]] Frame start_frame(SlotId slot) const;
    [[nodiscard]] Frame usual_frame(SlotId slot) const;
    [[nodiscard]] OutcomeLimits outcome_limits(SlotId slot) const;
    [[nodiscard]] Tree new_tree(SlotId slot) const;
    // The slot of a rule, by its place in `trees_`.
    [[nodiscard]] SlotId slot_of(std::size_t tree) const { return SlotId(tree / schema_->actions().size()); }
    void choose_frames(ActionId action, std::vector<ModelEvent>& events);
    // The outcomes of some targets in a frame: by target, numbered from 0; their lengths.
    struct FrameOutcomes {
        bool possible = true;
        std::vector<std::uint32_t> numbers;
        std::vector<Log> lengths;
    };
    [[nodiscard]] std::optional<Frame> shorter_frame(RuleId const& rule);
    [[nodiscard]] std::optional<Frame> constant_frame(RuleId const& rule, std::vector<Frame> const& frames);
    [[nodiscard]] std::optional<Frame> shortest(RuleId const& rule, FrameChoice const& choice,
                                                std::vector<Frame> const& rivals);
    [[nodiscard]] FrameOutcomes outcomes_in(Frame const& frame, SlotId slot, std::span<KeptTarget const> targets) const;
    void grow_again(RuleId const& rule, Frame const& frame, std::vector<ModelEvent>& events);

    // Looks that one observation may still take.
    struct LooksLeft {
        std::size_t fresh = 1, second = 4, ahead = 1;
    };
    void take_looks(ActionId action, std::vector<ModelEvent>& events);
    void take_looks(Tree& tree, RuleId const& rule, LearningContext& learning, LooksLeft& left);
    [[nodiscard]] bool is_fresh_tree_due(RuleId const& rule, ActionId action) const;
    void plant_fresh_tree(RuleId const& rule, LearningContext& learning);
    [[nodiscard]] std::vector<KeptTarget> kept_targets(RuleId const& rule, NodeId node, std::size_t max_targets);

    template <class Route>
    void predict_slot(Prediction& prediction, SlotId slot, Tree const& tree, Route const& route) const;
    void predict_object(Prediction& prediction, SlotId slot, Row row, Tree const& tree, NodeId node,
                        FrameView const& view) const;
    template <class Route>
    void predict_feedback(Prediction& prediction, FeedbackKind kind, Tree const& tree, Route const& route) const;

    void save_undecided(Writer& out) const;
    void load_all(std::span<std::uint8_t const> bytes, bool with_feedback);
    [[nodiscard]] std::vector<RuleId> load_undecided(Reader& in);
    void load_window(Reader& in, Window& window, bool with_feedback) const;
    static void check_outcomes(FeedbackKind kind, Tree const& tree);
    void check_kept(KeptTransition const& kept) const;

    std::shared_ptr<Schema const> schema_;
    Settings settings_;
    std::unique_ptr<Criterion const> criterion_;
    Codes codes_;
    std::shared_ptr<BlockTables> tables_ = std::make_shared<BlockTables>();
    std::vector<Tree> trees_;  // [slot][action]; those of feedback come last, once some is given
    std::size_t varying_ = 0;  // trees that vary
    std::uint64_t observations_ = 0, edits_ = 0;
    Window window_;
    std::vector<RuleId> undecided_;  // rules with nodes that wait for a decision after a replay, in order

    // Scratch space of observe().
    std::vector<Effect> effects_;  // by slot, those of feedback included if it has rules
    std::vector<Row> every_row_;   // 0, 1, 2, ...: targets refer to them
    std::vector<Tree::Target> targets_;
    std::vector<Event> events_;
    Scratch scratch_;
    ModelLock lock_;
};

}  // namespace treethink
