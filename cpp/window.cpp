#include "window.hpp"

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "serialize.hpp"

namespace treethink {

namespace {

// Of slots and sums.
std::size_t count_columns(State const& state) { return state.schema()->columns().size(); }

// Size of a state besides its values, in integers: a handle on each column, and the ids of its objects.
std::uint64_t per_state(State const& state) { return 8 + 2 * count_columns(state); }
constexpr std::uint64_t per_object = 8;

bool same(State::ColumnPtr const& a, State::ColumnPtr const& b) { return a == b || *a == *b; }

// For each slot and sum, whether two states have the same values; of a sum, where its terms have.
std::vector<bool> equal_columns(State const& state, State const& with) {
    std::vector<bool> equal;
    equal.reserve(count_columns(state));
    for (std::size_t s = 0; s < state.columns().size(); ++s)
        equal.push_back(same(state.column(SlotId(s)), with.column(SlotId(s))));
    for (std::size_t s = equal.size(); s < count_columns(state); ++s) {
        auto const [a, b] = state.schema()->terms_of(SlotId(s));
        equal.push_back(equal[a] && equal[b]);
    }
    return equal;
}

// Makes a state share the columns of another where they are equal, as successive states of a world usually do already.
// Returns how many integers it does not share.
std::uint64_t share(State& state, State const& with) {
    bool const same_objects = state.roster() == with.roster() || *state.roster() == *with.roster();
    std::uint64_t own = per_state(state) + (same_objects ? 0 : per_object * state.roster()->size());
    bool shares_all = !same_objects || state.roster() == with.roster();
    std::vector<bool> const equal = equal_columns(state, with);
    for (std::size_t s = 0; s < equal.size(); ++s) {
        auto const& mine = state.column(SlotId(s));
        own += equal[s] ? 0 : mine->values().size();
        shares_all = shares_all && (!equal[s] || mine == with.column(SlotId(s)));
    }
    if (shares_all) return own;
    std::vector<State::ColumnPtr> columns = state.copy_of_columns();
    for (std::size_t s = 0; s < columns.size(); ++s)
        if (equal[s]) columns[s] = with.column(SlotId(s));
    state = State(state.schema(), same_objects ? with.roster() : state.roster(), std::move(columns), &with);
    return own;
}

std::uint64_t size_of(State const& state) {
    std::uint64_t values = per_state(state) + per_object * state.roster()->size();
    for (std::size_t s = 0; s < count_columns(state); ++s) values += state.column(SlotId(s))->values().size();
    return values;
}

}  // namespace

void Window::keep(KeptTransition transition) {
    transition.own_before = kept_.empty() ? size_of(transition.before) : share(transition.before, kept_.back().after);
    transition.own_after = share(transition.after, transition.before);
    values_ += transition.own_before + transition.own_after;
    kept_.push_back(std::move(transition));
    while (kept_.size() > max_transitions_ || (values_ > max_values && kept_.size() > 1)) forget_first();
}

// The next transition no longer shares anything with it.
void Window::forget_first() {
    KeptTransition const& first = kept_[0];
    values_ -= first.own_before + first.own_after;
    if (kept_.size() > 1) {
        KeptTransition& next = kept_[1];
        values_ -= next.own_before;
        next.own_before = size_of(next.before);
        values_ += next.own_before;
    }
    kept_.pop_front();
}

// ---- to and from files ----
//
// window      how many transitions, then each: state before, action, state after
// state       its roster, then a column for each slot
// part        the number of an equal part written before; or the next number, and then the part
// roster      for each class how many ids, then those
// column      its values; how many is known by the roster

namespace {

using Ids = std::vector<std::vector<Int>>;

// Numbers parts. Equal parts have the same number, whether or not they share memory, which
// depends on how states were made.
template <class Part, class Value>
class Numbers {
public:
    /// The part's number, and whether it is the first of its value.
    std::pair<std::size_t, bool> of(Part const& part, Value const& value) {
        if (auto const known = by_address_.find(&part); known != by_address_.end()) return {known->second, false};
        auto const [entry, fresh] = by_value_.try_emplace(value, by_value_.size());
        by_address_.emplace(&part, entry->second);
        return {entry->second, fresh};
    }

private:
    std::unordered_map<Part const*, std::size_t> by_address_;
    std::map<Value, std::size_t> by_value_;
};

class StateWriter {
public:
    StateWriter(Writer& out, std::size_t slots) : out_(out), columns_(slots) {}

    void write(State const& state) {
        Roster const& roster = *state.roster();
        Ids ids;
        for (std::size_t c = 0; c < roster.classes(); ++c) ids.push_back(roster.ids(ClassId(c)));
        if (is_new(rosters_.of(roster, ids)))
            for (auto const& each : ids) {
                out_.number(each.size());
                out_.vector(each);
            }
        for (std::size_t s = 0; s < columns_.size(); ++s) {
            Column const& column = *state.column(SlotId(s));
            if (is_new(columns_[s].of(column, column.values()))) out_.vector(column.values());
        }
    }

private:
    bool is_new(std::pair<std::size_t, bool> numbered) {
        out_.number(numbered.first);
        return numbered.second;
    }

    Writer& out_;
    Numbers<Roster, Ids> rosters_;
    std::vector<Numbers<Column, std::vector<Int>>> columns_;  // by slot
};

class StateReader {
public:
    StateReader(Reader& in, std::shared_ptr<Schema const> schema)
        : in_(in), schema_(std::move(schema)), columns_(schema_->slots().size()) {}

    State read() {
        auto const roster = part(rosters_, [&] { return std::make_shared<Roster const>(read_ids()); });
        std::vector<State::ColumnPtr> columns;
        for (std::size_t s = 0; s < columns_.size(); ++s) {
            std::size_t const rows = roster->ids(schema_->slots()[s].class_id).size();
            std::size_t const length = schema_->length(SlotId(s));
            columns.push_back(part(columns_[s], [&] {
                return std::make_shared<Column const>(length, in_.vector(checked(rows) * length));
            }));
            if (columns.back()->rows() != rows)
                throw ModelFileError("the model file has a state with values of no object");
        }
        State state(schema_, roster, std::move(columns), last_ ? &*last_ : nullptr);
        last_ = state;
        return state;
    }

private:
    template <class Part, class Read>
    Part part(std::vector<Part>& known, Read const& read) {
        auto const number = static_cast<std::size_t>(in_.number(known.size(), "the number of a part"));
        if (number == known.size()) known.push_back(read());
        return known[number];
    }
    Ids read_ids() {
        Ids ids;
        for (std::size_t c = 0; c < schema_->classes().size(); ++c) {
            ids.push_back(in_.vector(in_.count("a number of objects")));
            for (std::size_t i = 1; i < ids.back().size(); ++i)
                if (ids.back()[i - 1] >= ids.back()[i]) throw ModelFileError("the model file has ids out of order");
        }
        return ids;
    }
    // Every value takes at least one byte, so a number of rows beyond the bytes left is wrong, and may be huge.
    [[nodiscard]] std::size_t checked(std::size_t rows) const {
        if (rows > in_.left()) throw ModelFileError("the model file ends in the middle of a state");
        return rows;
    }

    Reader& in_;
    std::shared_ptr<Schema const> schema_;
    std::vector<std::shared_ptr<Roster const>> rosters_;
    std::vector<std::vector<State::ColumnPtr>> columns_;  // by slot
    std::optional<State> last_;                           // sums of what is the same are shared with it
};

}  // namespace

void Window::save(Writer& out) const {
    out.number(kept_.size());
    if (kept_.empty()) return;
    StateWriter writer(out, kept_.front().before.columns().size());
    for (KeptTransition const& each : kept_) {
        writer.write(each.before);
        out.number(each.action);
        writer.write(each.after);
    }
}

void Window::load(Reader& in, std::shared_ptr<Schema const> const& schema) {
    std::uint64_t const count = in.number(max_transitions_, "a number of kept transitions");
    StateReader reader(in, schema);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (in.at_end()) throw ModelFileError("the model file ends in the middle of its kept transitions");
        State const before = reader.read();
        if (schema->actions().empty())
            throw ModelFileError("the model file has a transition where no action is possible");
        ActionId const action(static_cast<std::size_t>(in.number(schema->actions().size() - 1, "an action")));
        State const after = reader.read();
        check_same_objects(before, after);
        keep({before, after, action, {}});
    }
    if (kept_.size() < count)
        throw ModelFileError("the model file has more kept transitions than would have been kept");
}

// feedback    for each transition: flags, then its reward where they say so

namespace {

constexpr std::uint64_t flag_reward = 1, flag_known_end = 2, flag_ended = 4;

}  // namespace

void Window::save_feedback(Writer& out) const {
    for (KeptTransition const& each : kept_) {
        auto const& [reward, terminated] = each.feedback;
        out.number((reward ? flag_reward : 0) | (terminated ? flag_known_end : 0) |
                   (terminated.value_or(false) ? flag_ended : 0));
        if (reward) out.integer(outcome_of_reward(*reward));
    }
}

void Window::load_feedback(Reader& in) {
    for (KeptTransition& each : kept_) {
        std::uint64_t const flags = in.number(flag_reward | flag_known_end | flag_ended, "a flag");
        if (flags & flag_known_end) each.feedback.terminated = (flags & flag_ended) != 0;
        if ((flags & flag_ended) && !(flags & flag_known_end))
            throw ModelFileError("the model file has a transition with an end that is not known");
        if (!(flags & flag_reward)) continue;
        Int const outcome = in.integer();
        if (!is_outcome(FeedbackKind::reward, outcome))
            throw ModelFileError("the model file has kept a reward that is no finite number");
        each.feedback.reward = reward_of_outcome(outcome);
    }
}

std::size_t Window::bytes() const {
    std::unordered_set<void const*> seen;
    std::size_t bytes = kept_.size() * sizeof(KeptTransition);
    for (KeptTransition const& each : kept_)
        for (State const* const state : {&each.before, &each.after}) {
            bytes += state->schema()->columns().size() * sizeof(State::ColumnPtr);
            if (seen.insert(state->roster().get()).second) bytes += sizeof(Roster) + state->roster()->size() * 64;
            for (std::size_t s = 0; s < state->schema()->columns().size(); ++s)
                if (Column const& column = *state->column(SlotId(s)); seen.insert(&column).second)
                    bytes += sizeof(Column) + column.values().capacity() * sizeof(Int);
        }
    return bytes;
}

}  // namespace treethink
