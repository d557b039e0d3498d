#include "model.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "serialize.hpp"

namespace treethink {

Model::Model(std::shared_ptr<Schema const> schema, Settings settings)
    : schema_(std::move(schema)), settings_(std::move(settings)),
      criterion_(make_criterion(settings_.criterion, settings_.alpha)), codes_(schema_), window_(settings_.memory),
      effects_(schema_->slots().size()) {
    if (settings_.max_candidates < 1) throw SettingError("max_candidates must be at least 1, got 0");
    for (auto const& slot : schema_->slots())
        for (std::size_t a = 0; a < schema_->actions().size(); ++a) trees_.emplace_back(std::vector{slot.class_id});
}

std::uint64_t Model::observations() const {
    std::shared_lock const lock(mutex_);
    return observations_;
}

// ---- observing ----

void Model::check(State const& state, char const* role) const {
    if (state.schema() == schema_ || *state.schema() == *schema_) return;
    throw StateError(std::string("the ") + role + " state is of another schema than the model");
}

void Model::find_effect(SlotId slot, State const& before, State const& after, Effect& effect) const {
    Column const& old_column = *before.column(slot);
    Column const& new_column = *after.column(slot);
    Attribute const& attribute = schema_->attributes()[schema_->slots()[slot].attribute];
    bool const same_values = &old_column == &new_column || old_column == new_column;
    effect.unchanged = same_values && !attribute.outcomes_are_values;
    if (effect.unchanged) return effect.outcomes.assign(attribute.length, 0);
    effect.outcomes = new_column.values();
    for (std::size_t i = 0; i < effect.outcomes.size() && !attribute.outcomes_are_values; ++i)
        if (!subtract(new_column.values()[i], old_column.values()[i], effect.outcomes[i])) {
            ClassId const class_id = schema_->slots()[slot].class_id;
            Int const id = before.roster()->ids(class_id)[i / attribute.length];
            throw TransitionError("attribute '" + attribute.name + "' of object " + std::to_string(id) +
                                  " changes from " + std::to_string(old_column.values()[i]) + " to " +
                                  std::to_string(new_column.values()[i]) + ", a difference that does not fit 64 bits");
        }
}

bool Model::will_vary(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows) const {
    if (tree.varies()) return true;
    std::size_t const length = schema_->length(slot);
    VectorView first = tree.outcomes().empty() ? effect.outcome(0, length) : VectorView(tree.outcomes().front());
    for (std::size_t row = 0; row < (effect.unchanged ? 1 : rows); ++row)
        if (!same(first, effect.outcome(row, length))) return true;
    return false;
}

std::vector<ModelEvent> Model::observe(State const& before, ActionId action, State const& after) {
    check(before, "before");
    check(after, "after");
    check_same_objects(before, after);
    std::unique_lock const lock(mutex_);
    events_.clear();
    // First everything that can be refused, then everything that changes the model.
    // What is kept may be learned from later, so with a memory all of it is looked at now.
    bool facts_needed = window_.keeps();
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        std::size_t const rows = before.column(SlotId(s))->rows();
        if (rows == 0) continue;
        find_effect(SlotId(s), before, after, effects_[s]);
        facts_needed = facts_needed || will_vary(tree(SlotId(s), action), SlotId(s), effects_[s], rows);
    }
    if (facts_needed) recode(trees_, codes_, codes_.set_state(before));
    ++observations_;
    std::vector<ModelEvent> events;
    Learning learning{codes_, *criterion_, settings_, scratch_, before, events_};
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        if (before.column(SlotId(s))->rows() == 0) continue;
        learn(SlotId(s), action, learning, effects_[s]);
        take_events(SlotId(s), action, events);
    }
    if (window_.keeps()) {
        decide_seeded(learning, events);
        window_.keep({before, after, action});
        replay(action);
    }
    if (facts_needed) collect_codes(trees_, codes_);
    return events;
}

void Model::take_events(SlotId slot, ActionId action, std::vector<ModelEvent>& events) {
    for (Event& event : events_) events.push_back({slot, action, std::move(event), observations_});
    events_.clear();
}

// ---- learning again ----

void Model::decide_seeded(Learning& learning, std::vector<ModelEvent>& events) {
    for (auto const& [slot, action] : seeded_) {
        tree(slot, action).decide_seeded(learning);
        take_events(slot, action, events);
    }
}

// One pass over the window, for all trees that have new nodes: those just decided.
void Model::replay(ActionId action) {
    std::vector<std::pair<SlotId, ActionId>> fresh = std::exchange(seeded_, {});
    for (std::size_t s = 0; s < effects_.size(); ++s) fresh.emplace_back(SlotId(s), action);
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    std::erase_if(fresh, [&](auto const& each) { return !tree(each.first, each.second).has_fresh(); });
    if (fresh.empty()) return;
    seed(fresh);
    seeded_ = std::move(fresh);
}

void Model::seed(std::vector<std::pair<SlotId, ActionId>> const& fresh) {
    Effect effect;
    for (Kept const& each : window_.transitions()) {
        bool turned = false;
        for (auto const& [slot, its_action] : fresh) {
            std::size_t const rows = each.before.column(slot)->rows();
            if (its_action != each.action || rows == 0) continue;
            if (!std::exchange(turned, true)) recode(trees_, codes_, codes_.set_state(each.before));
            Learning learning{codes_, *criterion_, settings_, scratch_, each.before, events_};
            find_effect(slot, each.before, each.after, effect);
            set_targets(tree(slot, its_action), slot, effect, rows);
            tree(slot, its_action).seed(learning, targets_);
        }
    }
    Learning learning{codes_, *criterion_, settings_, scratch_, window_.transitions().back().before, events_};
    for (auto const& [slot, its_action] : fresh) tree(slot, its_action).end_seeding(learning);
}

void Model::learn(SlotId slot, ActionId action, Learning& learning, Effect const& effect) {
    Tree& tree = this->tree(slot, action);
    std::size_t const rows = learning.state.column(slot)->rows();
    std::size_t const length = schema_->length(slot);
    std::size_t const different = effect.unchanged ? 1 : rows;  // rows that may have outcomes of their own
    std::vector<Vector> fresh;
    for (std::size_t row = 0; row < different; ++row) {
        VectorView const outcome = effect.outcome(row, length);
        if (!tree.find_outcome(outcome)) fresh.emplace_back(outcome.begin(), outcome.end());
    }
    if (!fresh.empty()) tree.add_outcomes(std::move(fresh));
    if (!tree.varies() && tree.outcomes().size() == 1) return tree.observe_constant(rows);
    set_targets(tree, slot, effect, rows);
    tree.observe(learning, targets_);
}

void Model::set_targets(Tree const& tree, SlotId slot, Effect const& effect, std::size_t rows) {
    std::size_t const length = schema_->length(slot);
    std::size_t const different = effect.unchanged ? 1 : rows;
    while (every_row_.size() < rows) every_row_.push_back(static_cast<Row>(every_row_.size()));
    targets_.clear();
    std::uint32_t outcome = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (row < different) outcome = *tree.find_outcome(effect.outcome(row, length));
        targets_.push_back({{every_row_.data() + row, 1}, outcome});
    }
}

// ---- predicting ----

Prediction Model::predict(State const& state, ActionId action, FactsMode facts, BindingsMode bindings) const {
    check(state, "given");
    std::shared_lock const lock(mutex_);
    Prediction prediction(state, effects_.size());
    FactsOnDemand const demand(state);
    std::optional<FactsInFull> const full =
        facts == FactsMode::full ? std::optional<FactsInFull>(std::in_place, state, codes_.types()) : std::nullopt;
    for (std::size_t s = 0; s < effects_.size(); ++s) {
        SlotId const slot(s);
        Tree const& tree = this->tree(slot, action);
        std::size_t const rows = state.column(slot)->rows();
        if (rows == 0 || (tree.transitions() == 0 && !tree.varies())) continue;
        prediction.set_support(slot, tree.varies() ? 0 : tree.seen().front());
        bool const values = schema_->attributes()[schema_->slots()[s].attribute].outcomes_are_values;
        auto const still = [&] {
            Vector const& only = tree.outcomes().front();
            return !values && std::all_of(only.begin(), only.end(), [](Int each) { return each == 0; });
        };
        if (!tree.varies() && still()) continue;
        for (Row row = 0; row < rows; ++row) {
            std::uint32_t node = 0;
            if (tree.varies()) {
                std::span<Row const> const target(&row, 1);
                node = tree.answering(full ? tree.route(*full, codes_.types(), target, bindings)
                                           : tree.route(demand, codes_.types(), target, bindings));
            }
            prediction.begin(slot, row, tree.answer_total(node));
            VectorView const old = state.value(slot, row);
            Buffer next(old.size());
            for (std::size_t y = 0; y < tree.outcomes().size(); ++y) {
                std::uint64_t const count = tree.answer_count(node, y);
                if (count == 0) continue;
                for (std::size_t d = 0; d < old.size(); ++d)
                    if (!add(values ? 0 : old[d], tree.outcomes()[y][d], next.data()[d]))
                        throw StateError("a predicted value of '" +
                                         schema_->attributes()[schema_->slots()[s].attribute].name +
                                         "' does not fit 64 bits");
                prediction.add(next.view(), count);
            }
        }
    }
    return prediction;
}

// ---- the rest ----

ModelSize Model::size() const {
    std::shared_lock const lock(mutex_);
    ModelSize size;
    size.bytes = sizeof *this + codes_.bytes() + window_.bytes();
    size.kept = window_.transitions().size();
    for (Tree const& tree : trees_) {
        size.bytes += tree.bytes();
        size.varying += tree.varies();
        size.forgotten += tree.forgotten();
        for (Node const& node : tree.nodes()) {
            size.nodes += node.classes.empty() ? 0 : 1;  // not one that waits to be used again
            size.candidates += node.candidates;
        }
    }
    return size;
}

std::vector<std::uint8_t> Model::save(bool with_memory) const {
    std::shared_lock const lock(mutex_);
    Writer out;
    out.number(observations_);
    for (Tree const& tree : trees_) tree.save(out, codes_);
    if (window_.keeps()) {
        save_seeded(out);
        (with_memory ? window_ : Window(settings_.memory)).save(out);
    }
    return out.take();
}

void Model::save_seeded(Writer& out) const {
    std::vector<std::pair<SlotId, ActionId>> waiting;
    for (auto const& each : seeded_)
        if (!tree(each.first, each.second).seeded().empty()) waiting.push_back(each);
    out.number(waiting.size());
    for (auto const& [slot, action] : waiting) {
        out.number(slot * schema_->actions().size() + action);
        auto const places = tree(slot, action).seeded();
        out.number(places.size());
        for (std::size_t const place : places) out.number(place);
    }
}

std::vector<std::pair<SlotId, ActionId>> Model::load_seeded(Reader& in, std::vector<Tree>& trees) const {
    std::vector<std::pair<SlotId, ActionId>> seeded;
    std::size_t const count = in.count("a number of rules with seeded nodes");
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const most = trees.empty() ? 0 : trees.size() - 1;
        auto const t = static_cast<std::size_t>(in.number(most, "a rule"));
        std::vector<std::size_t> places;
        for (std::size_t k = in.count("a number of seeded nodes"); k > 0; --k)
            places.push_back(static_cast<std::size_t>(in.number()));
        if (t >= trees.size() || places.empty() || !std::is_sorted(places.begin(), places.end(), std::less_equal<>()))
            throw ModelFileError(
                "the model file has seeded nodes out of order, or none of a rule that should have some");
        trees[t].set_seeded(places);
        seeded.emplace_back(SlotId(t / schema_->actions().size()), ActionId(t % schema_->actions().size()));
    }
    if (!std::is_sorted(seeded.begin(), seeded.end(), std::less_equal<>()))
        throw ModelFileError("the model file has rules with seeded nodes out of order");
    return seeded;
}

// A transition that observe() would have refused, or that no rule has counted, cannot have been kept.
void Model::load_window(Reader& in, Window& window, std::vector<Tree>& trees, Codes& codes) const {
    try {
        window.load(in, schema_);
        Effect effect;
        for (Kept const& each : window.transitions()) {
            recode(trees, codes, codes.set_state(each.before));
            for (std::size_t s = 0; s < effects_.size(); ++s) {
                std::size_t const rows = each.before.column(SlotId(s))->rows();
                if (rows == 0) continue;
                find_effect(SlotId(s), each.before, each.after, effect);
                Tree const& tree = trees[s * schema_->actions().size() + each.action];
                for (std::size_t row = 0; row < (effect.unchanged ? 1 : rows); ++row)
                    if (!tree.find_outcome(effect.outcome(row, schema_->length(SlotId(s)))))
                        throw ModelFileError("the model file has kept a transition that no rule has seen");
            }
        }
    } catch (StateError const& error) {
        throw ModelFileError(std::string("the model file has kept a state that cannot be: ") + error.what());
    } catch (TransitionError const& error) {
        throw ModelFileError(std::string("the model file has kept a transition that cannot be: ") + error.what());
    }
}

void Model::load(std::span<std::uint8_t const> bytes) {
    std::unique_lock const lock(mutex_);
    Reader in(bytes);
    Codes codes(schema_);
    std::vector<Tree> trees = trees_;
    std::uint64_t const observations = in.number();
    for (std::size_t t = 0; t < trees.size(); ++t) {
        SlotId const slot(t / schema_->actions().size());
        auto const recodings = trees[t].load(in, codes, schema_->length(slot), settings_.branch_updates);
        recode(std::span(trees).first(t), codes, recodings);  // those loaded before
        trees[t].find_rest(*criterion_);
    }
    Window window(settings_.memory);
    std::vector<std::pair<SlotId, ActionId>> seeded;
    if (window.keeps()) {
        seeded = load_seeded(in, trees);
        load_window(in, window, trees, codes);
    }
    if (!in.at_end()) throw ModelFileError("the model file has bytes left over after its last rule");
    codes_ = std::move(codes);
    trees_ = std::move(trees);
    window_ = std::move(window);
    seeded_ = std::move(seeded);
    observations_ = observations;
}

}  // namespace treethink
