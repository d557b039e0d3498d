#include "model.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "learning/replay.hpp"
#include "looks/fresh_tree.hpp"
#include "looks/rule_sketch.hpp"
#include "novelty.hpp"
#include "serialize.hpp"

namespace treethink {

Model::Model(std::shared_ptr<Schema const> schema, Settings settings)
    : schema_(std::move(schema)), settings_(std::move(settings)),
      criterion_(make_criterion(settings_.criterion, settings_.alpha)), codes_(schema_), window_(settings_.memory),
      effects_(schema_->slots().size()) {
    if (settings_.max_candidates < 1) throw SettingError("max_candidates must be at least 1, got 0");
    if (settings_.max_outcomes < 1) throw SettingError("max_outcomes must be at least 1, got 0");
    trees_.reserve(schema_->slots().size() * schema_->actions().size());
    for (std::size_t s = 0; s < schema_->slots().size(); ++s)
        for (std::size_t a = 0; a < schema_->actions().size(); ++a) trees_.push_back(new_tree(SlotId(s)));
}

std::uint64_t Model::observations() const {
    auto const lock = lock_.for_reading();
    return observations_;
}

// ---- observing ----

void Model::check_schema(State const& state, char const* role) const {
    if (state.schema()->fits(*schema_)) return;
    throw StateError(std::string("the ") + role + " state is of another schema than the model");
}

bool Model::is_predicted(SlotId slot, State const& before) const {
    return before.column(slot)->rows() > 0 && !attribute(slot).derived;
}

std::size_t Model::count_targets(SlotId slot, State const& before, Feedback const& feedback) const {
    auto const kind = feedback_kind(slot);
    return kind ? feedback.outcome(*kind).has_value() : is_predicted(slot, before) ? before.column(slot)->rows() : 0;
}

void Model::find_effect(Frame const& frame, SlotId slot, State const& before, State const& after,
                        Feedback const& feedback, Effect& effect) const {
    effect.told = true;
    effect.bare.clear();
    effect.unchanged = false;
    if (auto const kind = feedback_kind(slot)) return effect.outcomes.assign(1, *feedback.outcome(*kind));
    Column const& old_column = *before.column(slot);
    Column const& new_column = *after.column(slot);
    bool const same_values = &old_column == &new_column || old_column == new_column;
    effect.unchanged = same_values && (frame.stays || frame.is_change());
    if (!effect.unchanged) return tell_rows(frame, slot, before, after, effect);
    effect.outcomes.assign(old_column.length(), 0);
    if (frame.stays) effect.bare.assign(1, 1);
}

void Model::find_effect(Tree const& tree, SlotId slot, State const& before, State const& after,
                        Feedback const& feedback, Effect& effect) const {
    find_effect(tree.frame(), slot, before, after, feedback, effect);
    tell_jumps(tree, slot, before, effect);
}

// A step may happen to lead to the source. It may be one if the rule has seen that change elsewhere.
bool Model::has_ambiguous_jump(Tree const& tree, SlotId slot, Effect const& effect) const {
    for (std::size_t row = 0; tree.frame().jumps && row < effect.bare.size(); ++row)
        if (effect.bare[row] != 0 && tree.outcomes().find(effect.offset(row, outcome_length(slot)))) return true;
    return false;
}

// for each jump that may be a change:
//     take it for the change if the leaf that the object reaches has seen that one
void Model::tell_jumps(Tree const& tree, SlotId slot, State const& before, Effect& effect) const {
    if (!has_ambiguous_jump(tree, slot, effect)) return;
    FactsOnDemand const facts(before);
    auto const jump = tree.outcomes().find(kJumps);
    for (Row row = 0; row < effect.bare.size(); ++row) {
        auto const change = tree.outcomes().find(effect.offset(row, outcome_length(slot)));
        if (effect.bare[row] == 0 || !change) continue;
        NodeId const leaf =
            tree.varies() ? tree.route(facts, codes_.types(), {&row, 1}, BindingsMode::first) : NodeId{kRoot};
        NodeId const node = tree.answering_node(leaf);
        effect.bare[row] = jump && tree.answer_count(node, *change) == 0;
    }
}

void Model::tell_rows(Frame const& frame, SlotId slot, State const& before, State const& after, Effect& effect) const {
    std::size_t const length = outcome_length(slot);
    effect.outcomes = after.column(slot)->values();
    if (frame.stays || frame.jumps) effect.bare.assign(before.column(slot)->rows(), 0);
    if (!frame.stays && !frame.adds && !frame.source) return;  // new values
    FrameView const view(frame, before, slot);
    for (Row row = 0; row < before.column(slot)->rows() && effect.told; ++row) {
        VectorView const value = after.value(slot, row);
        if (frame.stays && same(value, before.value(slot, row)))
            effect.bare[row] = 1;
        else
            effect.told = view.offset(row, value, effect.outcomes.data() + row * length);
        if (view.is_jump(row, value)) effect.bare[row] = 1;
    }
}

void Model::refuse_difference(SlotId slot, State const& before, State const& after, std::size_t i) const {
    Int const id = before.roster()->ids(schema_->slots()[slot].class_id)[i / attribute(slot).length];
    throw TransitionError("attribute '" + attribute(slot).name + "' of object " + std::to_string(id) +
                          " changes from " + std::to_string(before.column(slot)->values()[i]) + " to " +
                          std::to_string(after.column(slot)->values()[i]) + ", a difference that does not fit 64 bits");
}

void Model::check(State const& before, State const& after) const {
    check_schema(before, "before");
    check_schema(after, "after");
    check_same_objects(before, after);
    for (std::size_t s = 0; s < schema_->slots().size(); ++s) check_difference(SlotId(s), before, after);
}

// Where rules begin with changes, also if a rule tells something else now: it may have to tell changes again.
void Model::check_difference(SlotId slot, State const& before, State const& after) const {
    if (feedback_kind(slot)) return;
    Column const& old_column = *before.column(slot);
    Column const& new_column = *after.column(slot);
    if (&old_column == &new_column || attribute(slot).starts_by_value() || !is_predicted(slot, before)) return;
    Int difference = 0;
    for (std::size_t i = 0; i < old_column.values().size(); ++i)
        if (!subtract(new_column.values()[i], old_column.values()[i], difference))
            refuse_difference(slot, before, after, i);
}

bool Model::will_vary(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows) const {
    if (tree.varies() || !effect.told) return true;
    std::size_t const length = outcome_length(slot);
    VectorView first =
        tree.outcomes().empty() ? effect.outcome(0, length) : VectorView(tree.outcomes().values().front());
    for (std::size_t row = 0; row < effect.distinct_rows(rows); ++row)
        if (!same(first, effect.outcome(row, length))) return true;
    return false;
}

// Everything that can be refused is refused here. Returns whether codes of the facts are needed: some rule varies, or
// the transition is kept, and may be learned from later.
bool Model::find_effects(State const& before, ActionId action, State const& after, Feedback const& feedback) {
    bool facts_needed = window_.keeps();
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        std::size_t const rows = count_targets(SlotId(s), before, feedback);
        if (rows == 0) continue;
        Tree const& tree = this->tree(SlotId(s), action);
        find_effect(tree, SlotId(s), before, after, feedback, effects_[s]);
        if (!effects_[s].told || !tree.frame().is_change()) check_difference(SlotId(s), before, after);
        facts_needed = facts_needed || will_vary(tree, SlotId(s), effects_[s], rows);
    }
    return facts_needed;
}

bool Model::learns_feedback(FeedbackKind kind) const {
    auto const lock = lock_.for_reading();
    return has_learned(kind);
}

bool Model::has_learned(FeedbackKind kind) const {
    std::size_t const first = feedback_slot(kind) * schema_->actions().size();
    for (std::size_t t = first; t < trees_.size() && t < first + schema_->actions().size(); ++t)
        if (trees_[t].transitions() > 0 || trees_[t].varies()) return true;
    return false;
}

TreeSnapshot Model::snapshot(SlotId slot, ActionId action, bool with_candidates) const {
    auto const lock = lock_.for_reading();
    if (feedback_kind(slot) && !has_feedback_rules()) return {};
    return take_snapshot(tree(slot, action), codes_, with_candidates);
}

// Rules of feedback exist from the first that is given on. As long as they have learned nothing, nobody can tell.
void Model::add_feedback_rules() {
    if (has_feedback_rules()) return;
    std::size_t const slots = schema_->slots().size() + feedback_kinds;
    effects_.reserve(slots);  // what needs memory comes first
    trees_.reserve(slots * schema_->actions().size());
    while (trees_.size() < slots * schema_->actions().size()) trees_.push_back(new_tree(slot_of(trees_.size())));
    effects_.resize(slots);
}

std::vector<ModelEvent> Model::observe(State const& before, ActionId action, State const& after,
                                       Feedback const& feedback) {
    check_schema(before, "before");
    check_schema(after, "after");
    check_same_objects(before, after);
    auto const lock = lock_.for_writing();
    if (!feedback.empty()) add_feedback_rules();
    bool const facts_needed = find_effects(before, action, after, feedback);
    return lock_.guard("learned observation", observations_ + 1,
                       [&] { return learn_transition(before, action, after, feedback, facts_needed); });
}

std::vector<ModelEvent> Model::learn_transition(State const& before, ActionId action, State const& after,
                                                Feedback const& feedback, bool facts_needed) {
    events_.clear();
    if (facts_needed) recode(trees_, codes_, codes_.set_state(before));
    ++observations_;
    std::erase_if(undecided_, [&](RuleId const& rule) {  // people may have removed the nodes
        return TreeReplay::undecided(tree(rule.first, rule.second)).empty();
    });
    std::vector<ModelEvent> events;
    LearningContext learning = context(before);
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        std::size_t const rows = count_targets(SlotId(s), before, feedback);
        if (rows == 0 || !effects_[s].told) continue;
        learn(SlotId(s), action, learning, effects_[s], rows);
        take_events(SlotId(s), action, events);
    }
    if (window_.keeps()) {
        decide_replayed(learning, events);
        window_.keep({before, after, action, feedback});
        choose_frames(action, events);
        take_looks(action, events);
        replay_new_nodes(action);
    }
    if (facts_needed) collect_codes(trees_, codes_);
    return events;
}

void Model::learn(SlotId slot, ActionId action, LearningContext& context, Effect const& effect, std::size_t rows) {
    Tree& tree = this->tree(slot, action);
    add_new_outcomes(tree, slot, context, effect, rows);
    if (!tree.varies() && tree.outcomes().size() == 1) return tree.observe_constant(rows);
    set_targets(tree, slot, effect, rows);
    bool const varied = tree.varies();
    tree.observe(context, targets_);
    varying_ += tree.varies() && !varied;
}

void Model::add_new_outcomes(Tree& tree, SlotId slot, LearningContext& context, Effect const& effect,
                             std::size_t rows) {
    std::vector<Vector> new_outcomes;
    for (std::size_t row = 0; row < effect.distinct_rows(rows); ++row) {
        VectorView const outcome = effect.outcome(row, outcome_length(slot));
        if (!tree.outcomes().find_or_others(outcome)) new_outcomes.emplace_back(outcome.begin(), outcome.end());
    }
    if (!new_outcomes.empty()) tree.add_outcomes(context, std::move(new_outcomes));
}

void Model::count_varying() {
    varying_ =
        static_cast<std::size_t>(std::count_if(trees_.begin(), trees_.end(), [](auto& t) { return t.varies(); }));
}

void Model::set_targets(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows) {
    std::size_t const length = outcome_length(slot);
    while (every_row_.size() < rows) every_row_.push_back(static_cast<Row>(every_row_.size()));
    targets_.clear();
    std::uint32_t outcome = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (row < effect.distinct_rows(rows)) outcome = *tree.outcomes().find_or_others(effect.outcome(row, length));
        targets_.push_back({{every_row_.data() + row, tree.arguments().size()}, outcome});
    }
}

void Model::take_events(SlotId slot, ActionId action, std::vector<ModelEvent>& events) {
    for (Event& event : events_) events.push_back({slot, action, std::move(event), observations_});
    events_.clear();
}

// ---- replay (see learning/replay.hpp) ----

void Model::decide_replayed(LearningContext& context, std::vector<ModelEvent>& events) {
    for (auto const& [slot, action] : undecided_) {
        TreeReplay(tree(slot, action)).decide(context);
        take_events(slot, action, events);
    }
}

// Replays the window to all trees with new nodes. Only those that have just decided can have some.
void Model::replay_new_nodes(ActionId action) {
    std::vector<RuleId> rules = std::exchange(undecided_, {});
    for (std::size_t s = 0; s < effects_.size(); ++s) rules.emplace_back(SlotId(s), action);
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    std::erase_if(rules, [&](RuleId const& rule) { return !tree(rule.first, rule.second).awaits_replay(); });
    if (rules.empty()) return;
    replay_window(rules);
    undecided_ = std::move(rules);
}

// One pass over the window for all of these rules. Jumps that may be changes come last: by then, leaves know which.
void Model::replay_window(std::vector<RuleId> const& rules) {
    if (replay_window(rules, false)) replay_window(rules, true);
    LearningContext learning = context(window_.transitions().back().before);
    for (auto const& [slot, action] : rules) TreeReplay(tree(slot, action)).finish(learning);
}

// Replays the transitions with such jumps, or all others; returns whether there are some that were not replayed.
bool Model::replay_window(std::vector<RuleId> const& rules, bool ambiguous) {
    Effect effect;
    bool left_out = false;
    for (KeptTransition const& kept : window_.transitions()) {
        bool codes_are_set = false;
        auto const set_codes = [&] {
            if (!std::exchange(codes_are_set, true)) recode(trees_, codes_, codes_.set_state(kept.before, true));
        };
        for (auto const& [slot, action] : rules) {
            std::size_t const rows = count_targets(slot, kept.before, kept.feedback);
            if (action != kept.action || rows == 0) continue;
            Tree& tree = this->tree(slot, action);
            LearningContext learning = context(kept.before);
            find_effect(tree.frame(), slot, kept.before, kept.after, kept.feedback, effect);
            if (!effect.told) continue;
            if (has_ambiguous_jump(tree, slot, effect) != ambiguous) {
                left_out = true;
                continue;
            }
            tell_jumps(tree, slot, kept.before, effect);
            set_targets(tree, slot, effect, rows);
            TreeReplay(tree).count(learning, targets_, set_codes);
        }
    }
    return left_out;
}

// ---- looks at what is kept (see looks/) ----

// Targets of a rule that reach a node; they refer to the window.
std::vector<KeptTarget> Model::kept_targets(RuleId const& rule, NodeId node, std::size_t max_targets) {
    auto const& [slot, action] = rule;
    Tree const& tree = this->tree(slot, action);
    TargetCollector collector(tree, node, max_targets);
    Effect effect;
    auto const& kept = window_.transitions();
    for (auto each = kept.rbegin(); each != kept.rend() && !collector.is_full(); ++each) {
        std::size_t const rows = count_targets(slot, each->before, each->feedback);
        if (each->action != action || rows == 0) continue;
        find_effect(tree, slot, each->before, each->after, each->feedback, effect);
        if (!effect.told) continue;
        set_targets(tree, slot, effect, rows);
        collector.add(codes_.types(), each->before, each->after, targets_);
    }
    return collector.take();
}

// ---- frames (see looks/frame_choice.hpp) ----

bool Model::chooses_frames() const { return window_.keeps() && criterion_->looks_ahead() && settings_.branch_updates; }

Frame Model::start_frame(SlotId slot) const {
    return feedback_kind(slot) ? usual_frame(slot) : default_frame(attribute(slot), !chooses_frames());
}

// The frame of rules before there were others; rules of feedback have it always.
Frame Model::usual_frame(SlotId slot) const {
    return feedback_kind(slot) ? Frame{false, false, std::nullopt} : default_frame(attribute(slot), true);
}

OutcomeLimits Model::outcome_limits(SlotId slot) const {
    // Looks take what the choice of frames takes.
    OutcomeLimits limits{outcome_length(slot), usual_frame(slot), {}, !feedback_kind(slot), chooses_frames()};
    if (!feedback_kind(slot) && chooses_frames())
        limits.frames = [this, slot] { return possible_frames(*schema_, slot); };
    return limits;
}

Tree Model::new_tree(SlotId slot) const {
    std::vector<ClassId> arguments;
    if (!feedback_kind(slot)) arguments.push_back(schema_->slots()[slot].class_id);
    return {std::move(arguments), tables_, start_frame(slot)};
}

// Rules whose frame cannot tell the transition begin again. Of the others a few may choose a shorter frame.
void Model::choose_frames(ActionId action, std::vector<ModelEvent>& events) {
    KeptTransition const& last = window_.transitions().back();
    bool const may_choose = chooses_frames();
    std::size_t choices = 0;
    for (std::size_t s = 0; s < schema_->slots().size(); ++s) {
        RuleId const rule(SlotId(s), action);
        if (count_targets(SlotId(s), last.before, last.feedback) == 0) continue;
        Tree const& tree = this->tree(SlotId(s), action);
        if (!effects_[s].told) {
            if (!tree.is_edited()) grow_again(rule, start_frame(SlotId(s)), events);
            continue;
        }
        if (!may_choose || !tree.varies() || !is_choice_due(tree.transitions(), s)) continue;
        if (tree.is_edited() || ++choices > max_choices) continue;
        if (auto const frame = shorter_frame(rule)) grow_again(rule, *frame, events);
    }
}

// Little can be shorter than a rule that is explained, or that has little to explain.
std::optional<Frame> Model::shorter_frame(RuleId const& rule) {
    auto const& [slot, action] = rule;
    Tree& tree = this->tree(slot, action);
    std::vector<Frame> frames = possible_frames(*schema_, slot);
    Node const& root = tree.nodes()[kRoot];
    if (frames.size() == 1) return std::nullopt;
    if (root.settled || root.stats.last_checked_loss < FrameChoice::min_loss) return constant_frame(rule, frames);
    FrameChoice choice(std::move(frames), tree.frame());
    auto const& kept = window_.transitions();
    for (auto each = kept.rbegin(); each != kept.rend() && !choice.is_full(); ++each)
        if (each->action == action && is_predicted(slot, each->before)) choice.add(slot, each->before, each->after);
    std::vector<Frame> const rivals = choice.rivals(*criterion_, tree.transitions());
    return rivals.empty() ? std::nullopt : shortest(rule, choice, rivals);
}

// A value that is always set to the same needs no test that tells when it was so already: without `stays`, the rule has
// one outcome.
std::optional<Frame> Model::constant_frame(RuleId const& rule, std::vector<Frame> const& frames) {
    auto const& [slot, action] = rule;
    Tree const& tree = this->tree(slot, action);
    Frame frame = tree.frame();
    if (!std::exchange(frame.stays, false) || std::find(frames.begin(), frames.end(), frame) == frames.end())
        return std::nullopt;
    Vector first, outcome(attribute(slot).length, 0);
    std::uint64_t transitions = 0;
    for (KeptTransition const& kept : window_.transitions()) {
        if (kept.action != action || !is_predicted(slot, kept.before)) continue;
        FrameView const view(frame, kept.before, slot);
        for (Row row = 0; row < kept.before.column(slot)->rows(); ++row) {
            if (!view.offset(row, kept.after.value(slot, row), outcome.data())) return std::nullopt;
            if (first.empty()) first = outcome;
            if (outcome != first) return std::nullopt;
        }
        ++transitions;
    }
    bool const enough = transitions >= FrameChoice::enough_transitions || transitions >= tree.transitions();
    return enough ? std::optional(frame) : std::nullopt;
}

// Of the rule's frame and its rivals, the one with the shortest sketch, if it is surely shorter than the rule's own.
std::optional<Frame> Model::shortest(RuleId const& rule, FrameChoice const& choice, std::vector<Frame> const& rivals) {
    auto const& [slot, action] = rule;
    Tree& tree = this->tree(slot, action);
    LearningContext learning = context(window_.transitions().back().before);
    std::vector<KeptTarget> const targets = kept_targets(rule, kRoot, max_sketch_targets);
    RuleSketch sketch(learning, tree.arguments(), targets, tree.nodes()[kRoot].stats.current_design_effect());
    auto const length = [&](Frame const& frame) {
        FrameOutcomes const told = outcomes_in(frame, slot, targets);
        return told.possible
                   ? static_cast<double>(choice.length_of_choice(frame)) + sketch.length(told.numbers, told.lengths)
                   : std::numeric_limits<double>::infinity();
    };
    double best = length(tree.frame());
    double const own = best;
    std::optional<Frame> shortest;
    for (Frame const& rival : rivals) {
        double const of_rival = length(rival);
        if (of_rival >= best || !criterion_->surely_better(-of_rival, -own, targets.size())) continue;
        best = of_rival;
        shortest = rival;
    }
    return shortest;
}

Model::FrameOutcomes Model::outcomes_in(Frame const& frame, SlotId slot, std::span<KeptTarget const> targets) const {
    FrameOutcomes told;
    std::vector<std::pair<Vector, bool>> outcomes;  // and whether it is a jump
    std::set<Vector> changes;                       // of all others
    for (KeptTarget const& target : targets) {
        FrameView const view(frame, *target.before, slot);
        Row const row = target.bindings[0].front();
        VectorView const value = target.after->value(slot, row);
        auto outcome = view.outcome(row, value);
        told.possible = told.possible && outcome;
        if (!told.possible) return told;
        outcomes.emplace_back(*std::move(outcome), view.is_jump(row, value));
        if (frame.jumps && !outcomes.back().second) changes.insert(outcomes.back().first);
    }
    bool says_more = !frame.jumps;
    std::map<Vector, std::uint32_t> known;
    for (auto& [outcome, jumps] : outcomes) {
        if (jumps && !changes.contains(outcome)) outcome.clear();
        says_more = says_more || outcome.empty();
        auto const [place, is_new] = known.emplace(std::move(outcome), static_cast<std::uint32_t>(known.size()));
        if (is_new) told.lengths.push_back(length_of_outcome(frame, place->first, schema_->length(slot)));
        told.numbers.push_back(place->second);
    }
    told.possible = says_more;
    return told;
}

// The rule learns again from what is kept, in another frame. What the frame cannot tell is left out.
void Model::grow_again(RuleId const& rule, Frame const& frame, std::vector<ModelEvent>& events) {
    auto const& [slot, action] = rule;
    Tree& tree = this->tree(slot, action);
    tree.restart(frame);
    LearningContext learning = context(window_.transitions().back().before);
    learning.events.push_back({Decision::frame, "", std::nullopt, tree.arguments().size()});
    Effect effect;
    for (KeptTransition const& kept : window_.transitions()) {
        std::size_t const rows = count_targets(slot, kept.before, kept.feedback);
        if (action != kept.action || rows == 0) continue;
        find_effect(tree, slot, kept.before, kept.after, kept.feedback, effect);
        if (!effect.told) continue;
        add_new_outcomes(tree, slot, learning, effect, rows);
        set_targets(tree, slot, effect, rows);
        TreeReplay(tree).add_seen(learning, targets_);
    }
    count_varying();
    take_events(slot, action, events);
}

// Only rules that have just decided can have nodes to look at. There are few looks, so that no observation takes long.
void Model::take_looks(ActionId action, std::vector<ModelEvent>& events) {
    std::vector<RuleId> rules = undecided_;
    for (std::size_t s = 0; s < effects_.size(); ++s) rules.emplace_back(SlotId(s), action);
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    LooksLeft looks;
    for (RuleId const& rule : rules) {
        Tree& tree = this->tree(rule.first, rule.second);
        LearningContext learning = context(window_.transitions().back().before);
        if (looks.fresh > 0 && is_fresh_tree_due(rule, action)) {
            --looks.fresh;
            plant_fresh_tree(rule, learning);
            take_events(rule.first, rule.second, events);
        }
        if (!tree.awaits_look()) continue;
        take_looks(tree, rule, learning, looks);
        take_events(rule.first, rule.second, events);
    }
}

// When new nodes have counted what is kept, and now and then.
bool Model::is_fresh_tree_due(RuleId const& rule, ActionId action) const {
    Tree const& tree = this->tree(rule.first, rule.second);
    if (!chooses_frames() || !FreshTree::is_worth_while(tree)) return false;
    if (std::find(undecided_.begin(), undecided_.end(), rule) != undecided_.end()) return true;
    KeptTransition const& last = window_.transitions().back();
    bool const has_learned = rule.second == action && count_targets(rule.first, last.before, last.feedback) > 0;
    return has_learned && FreshTree::is_due(tree.transitions(), rule.first);
}

// If new nodes explain everything, a shorter tree may do so, too.
void Model::plant_fresh_tree(RuleId const& rule, LearningContext& learning) {
    auto const& [slot, action] = rule;
    Tree& tree = this->tree(slot, action);
    if (tree.transitions() > window_.transitions().size()) return;  // some are not kept any more
    FreshTree fresh(tree, learning);
    Effect effect;
    auto const& kept = window_.transitions();
    for (auto each = kept.rbegin(); each != kept.rend() && !fresh.is_full(); ++each) {
        std::size_t const rows = count_targets(slot, each->before, each->feedback);
        if (each->action != action || rows == 0) continue;
        find_effect(tree, slot, each->before, each->after, each->feedback, effect);
        if (!effect.told) continue;
        set_targets(tree, slot, effect, rows);
        fresh.add(each->before, each->after, targets_);
    }
    if (fresh.find()) fresh.plant();
}

// A rule is looked at until it changes.
void Model::take_looks(Tree& tree, RuleId const& rule, LearningContext& learning, LooksLeft& left) {
    SecondLook second(tree, learning);
    LookAhead ahead(tree, learning);
    for (auto const& [node, looks_ahead] : tree.take_looks()) {
        if (!tree.may_look()) return;
        bool const is_for_second = left.second > 0 && second.is_worth_while(node);
        bool const is_for_ahead = left.ahead > 0 && looks_ahead && ahead.is_worth_while(node);
        left.second -= is_for_second;
        left.ahead -= is_for_ahead;
        if (!is_for_second && !is_for_ahead) continue;
        std::size_t const most = tree.nodes()[node].is_leaf() ? max_look_targets : max_targets_of_branch;
        std::vector<KeptTarget> const targets = kept_targets(rule, node, most);
        if (is_for_second && second.decide(node, targets)) return;
        if (is_for_ahead && ahead.decide(node, targets)) return;
    }
}

// ---- predicting ----

Prediction Model::predict(State const& state, ActionId action, FactsMode facts, BindingsMode bindings) const {
    check_schema(state, "given");
    auto const lock = lock_.for_reading();
    std::size_t const slots = schema_->slots().size();
    Prediction prediction(state, slots);
    FactsOnDemand const demand(state);
    std::optional<FactsInFull> const full =
        facts == FactsMode::full ? std::optional<FactsInFull>(std::in_place, state, codes_.types()) : std::nullopt;
    auto const route = [&](Tree const& tree, std::span<Row const> target) {
        return full ? tree.route(*full, codes_.types(), target, bindings)
                    : tree.route(demand, codes_.types(), target, bindings);
    };
    for (std::size_t s = 0; s < slots; ++s) predict_slot(prediction, SlotId(s), tree(SlotId(s), action), route);
    if (!has_feedback_rules()) return prediction;
    for (FeedbackKind const kind : {FeedbackKind::reward, FeedbackKind::terminated})
        predict_feedback(prediction, kind, tree(feedback_slot(kind), action), route);
    return prediction;
}

template <class Route>
void Model::predict_feedback(Prediction& prediction, FeedbackKind kind, Tree const& tree, Route const& route) const {
    if (tree.transitions() == 0 && !tree.varies()) return;
    NodeId const leaf = tree.varies() ? route(tree, {}) : kRoot;
    NodeId const node = tree.answering_node(leaf);
    if (tree.is_mostly_others(leaf) || tree.is_mostly_others(node)) return;  // nothing is known
    for (std::size_t y = 0; y < tree.outcomes().size(); ++y)
        if (std::uint64_t const count = tree.answer_count(node, y); count > 0)
            prediction.add_feedback(kind, tree.outcomes().values()[y][0], count);
}

template <class Route>
void Model::predict_slot(Prediction& prediction, SlotId slot, Tree const& tree, Route const& route) const {
    std::size_t const rows = prediction.state().column(slot)->rows();
    if (rows == 0 || (tree.transitions() == 0 && !tree.varies())) return;
    prediction.set_support(slot, tree.varies() ? 0 : tree.seen().front());
    auto const never_changes = [&] {
        Vector const& only = tree.outcomes().values().front();
        bool const zero = std::all_of(only.begin(), only.end(), [](Int each) { return each == 0; });
        bool const changes = tree.frame().is_change() || tree.frame().jumps;
        return only.empty() ? !changes : changes && zero;
    };
    if (!tree.varies() && never_changes()) return;
    FrameView const view(tree.frame(), prediction.state(), slot);
    if (!view.has_source()) prediction.set_support(slot, 0);
    for (Row row = 0; row < rows; ++row) {
        NodeId const leaf = tree.varies() ? route(tree, {&row, 1}) : kRoot;
        if (!tree.is_mostly_others(leaf)) predict_object(prediction, slot, row, tree, tree.answering_node(leaf), view);
    }
}

void Model::predict_object(Prediction& prediction, SlotId slot, Row row, Tree const& tree, NodeId node,
                           FrameView const& view) const {
    std::uint64_t const total = tree.answer_total(node);
    auto const bare = tree.outcomes().bare();
    std::uint64_t const without = bare ? tree.answer_count(node, *bare) : 0;
    bool const needs_source = tree.frame().jumps ? without > 0 : without < total;
    bool const is_known = total > 0 && !tree.is_mostly_others(node) && (view.has_source() || !needs_source);
    if (!is_known) return;
    prediction.begin(slot, row, total);
    bool const may_repeat = bare.has_value();  // another outcome may lead to the same value
    Buffer next(schema_->length(slot));
    for (std::size_t y = 0; y < tree.outcomes().size(); ++y) {
        std::uint64_t const count = tree.answer_count(node, y);
        if (count == 0) continue;
        if (!view.value(row, tree.outcomes().values()[y], next.data()))
            throw StateError("a predicted value of '" + attribute(slot).name + "' does not fit 64 bits");
        if (may_repeat)
            prediction.add_merged(next.view(), count);
        else
            prediction.add(next.view(), count);
    }
}

std::optional<Novelty> Model::novelty(State const& state, ActionId action, SlotId slot, Row row) const {
    auto const lock = lock_.for_reading();
    return find_novelty(tree(slot, action), codes_, state, row, counted_objects(action));
}

// By class: how many objects it had in every transition with that action; 0: their number differed, or is not known.
std::vector<std::size_t> Model::counted_objects(ActionId action) const {
    std::vector<std::size_t> counted(schema_->classes().size(), 0);
    for (std::size_t s = 0; s < schema_->slots().size(); ++s) {
        Tree const& tree = this->tree(SlotId(s), action);
        std::uint64_t const n = std::accumulate(tree.seen().begin(), tree.seen().end(), std::uint64_t{0});
        bool const same = tree.transitions() > 0 && n % tree.transitions() == 0;
        counted[schema_->slots()[s].class_id] = same ? static_cast<std::size_t>(n / tree.transitions()) : 0;
    }
    return counted;
}

// ---- size ----

ModelSize Model::size() const {
    auto const lock = lock_.for_reading();
    ModelSize size;
    size.bytes = sizeof *this + codes_.bytes() + tables_->bytes() + window_.bytes();
    size.kept = window_.transitions().size();
    for (Tree const& tree : trees_) {
        size.bytes += tree.bytes();
        size.varying += tree.varies();
        size.forgotten += tree.forgotten();
        size.nodes += tree.size();
        for (Node const& node : tree.nodes()) size.candidates += node.candidates.size;
    }
    return size;
}

// ---- files ----

SavedModel Model::save(bool with_memory) const {
    auto const lock = lock_.for_reading();
    Writer out;
    out.number(observations_);
    bool const with_feedback = has_learned(FeedbackKind::reward) || has_learned(FeedbackKind::terminated);
    std::size_t const trees = with_feedback ? trees_.size() : schema_->slots().size() * schema_->actions().size();
    for (std::size_t t = 0; t < trees; ++t) save_tree(out, trees_[t], codes_, usual_frame(slot_of(t)));
    if (window_.keeps()) {
        save_undecided(out);
        Window const none(settings_.memory);
        Window const& window = with_memory ? window_ : none;
        window.save(out);
        if (with_feedback) window.save_feedback(out);
    }
    return {out.take(), with_feedback};
}

void Model::save_undecided(Writer& out) const {
    std::vector<RuleId> waiting;
    for (RuleId const& rule : undecided_)
        if (!TreeReplay::undecided(tree(rule.first, rule.second)).empty()) waiting.push_back(rule);
    out.number(waiting.size());
    for (auto const& [slot, action] : waiting) {
        out.number(slot * schema_->actions().size() + action);
        auto const places = TreeReplay::undecided(tree(slot, action));
        out.number(places.size());
        for (std::size_t const place : places) out.number(place);
    }
}

std::vector<RuleId> Model::load_undecided(Reader& in) {
    std::vector<RuleId> undecided;
    std::size_t const count = in.count("a number of rules with seeded nodes");
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const max_index = trees_.empty() ? 0 : trees_.size() - 1;
        auto const t = static_cast<std::size_t>(in.number(max_index, "a rule"));
        std::vector<std::size_t> places;
        for (std::size_t k = in.count("a number of seeded nodes"); k > 0; --k)
            places.push_back(static_cast<std::size_t>(in.number()));
        if (t >= trees_.size() || places.empty() || !std::is_sorted(places.begin(), places.end(), std::less_equal<>()))
            throw ModelFileError(
                "the model file has seeded nodes out of order, or none of a rule that should have some");
        RuleId const rule(t / schema_->actions().size(), t % schema_->actions().size());
        if (!undecided.empty() && !(undecided.back() < rule))
            throw ModelFileError("the model file has rules with seeded nodes out of order");
        TreeReplay(trees_[t]).set_undecided(places);
        undecided.push_back(rule);
    }
    return undecided;
}

// A transition that observe() would have refused, or that no rule has counted, cannot have been kept.
void Model::load_window(Reader& in, Window& window, bool with_feedback) const {
    try {
        window.load(in, schema_);
        if (with_feedback) window.load_feedback(in);
        State const* last = nullptr;
        for (KeptTransition const& kept : window.transitions()) {
            codes_.check(kept.before, std::exchange(last, &kept.before));
            check_kept(kept);
        }
    } catch (StateError const& error) {
        throw ModelFileError(std::string("the model file has kept a state that cannot be: ") + error.what());
    } catch (TransitionError const& error) {
        throw ModelFileError(std::string("the model file has kept a transition that cannot be: ") + error.what());
    }
}

void Model::check_kept(KeptTransition const& kept) const {
    Effect effect;
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        std::size_t const rows = count_targets(SlotId(s), kept.before, kept.feedback);
        if (rows == 0) continue;
        Tree const& tree = this->tree(SlotId(s), kept.action);
        find_effect(tree.frame(), SlotId(s), kept.before, kept.after, kept.feedback, effect);
        if (!effect.told) continue;
        std::size_t const length = outcome_length(SlotId(s));
        for (std::size_t row = 0; row < effect.distinct_rows(rows); ++row)
            if (!tree.outcomes().find_or_others(effect.outcome(row, length)) &&
                !(tree.frame().jumps && tree.outcomes().find(effect.offset(row, length))))
                throw ModelFileError("the model file has kept a transition that no rule has seen");
    }
}

void Model::check_outcomes(FeedbackKind kind, Tree const& tree) {
    auto const& outcomes = tree.outcomes();
    for (std::size_t y = 0; y < outcomes.size(); ++y)
        if (y != outcomes.others() && !is_outcome(kind, outcomes.values()[y][0]))
            throw ModelFileError(
                "the model file has a reward that is no finite number, or an end that is not yes or no");
}

void Model::load(std::span<std::uint8_t const> bytes, bool with_feedback) {
    auto const lock = lock_.for_writing();
    try {
        load_all(bytes, with_feedback);
    } catch (...) {
        for (std::size_t t = 0; t < trees_.size(); ++t) trees_[t] = new_tree(slot_of(t));
        throw;
    }
}

void Model::load_all(std::span<std::uint8_t const> bytes, bool with_feedback) {
    Reader in(bytes);
    Codes codes(schema_);
    if (with_feedback) add_feedback_rules();
    std::uint64_t const observations = in.number();
    for (std::size_t t = 0; t < trees_.size(); ++t) {
        SlotId const slot = slot_of(t);
        load_tree(in, trees_[t], codes, *criterion_, outcome_limits(slot), settings_.branch_updates);
        if (auto const kind = feedback_kind(slot)) check_outcomes(*kind, trees_[t]);
    }
    if (with_feedback && !has_learned(FeedbackKind::reward) && !has_learned(FeedbackKind::terminated))
        throw ModelFileError("the model file says that it has rewards or ends, and has none");
    Window window(settings_.memory);
    std::vector<RuleId> undecided;
    if (window.keeps()) {
        undecided = load_undecided(in);
        load_window(in, window, with_feedback);
    }
    if (!in.at_end()) throw ModelFileError("the model file has bytes left over after its last rule");
    codes_ = std::move(codes);
    window_ = std::move(window);
    undecided_ = std::move(undecided);
    observations_ = observations;
    count_varying();
}

}  // namespace treethink
