#include "search/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "learning/fixed_point_log.hpp"

namespace treethink {

namespace {

// The exploration constant grows slowly with the visits of a node (c_base of Schrittwieser et al. 2020).
constexpr double exploration_base = 19652;

// Returns are sums of rewards, multiplied by visits. With rewards up to this size they stay finite.
constexpr double max_reward = 1e250;

void check_reward(double reward) {
    if (std::abs(reward) <= max_reward) return;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", reward);
    throw SettingError(std::string("planning needs rewards from -1e250 to 1e250, got ") + text.data());
}

SlotId find_score(Schema const& schema) {
    for (std::size_t s = 0; s < schema.slots().size(); ++s) {
        auto const& slot = schema.slots()[s];
        if (schema.classes()[slot.class_id].name == "game" && schema.attributes()[slot.attribute].name == "score" &&
            schema.attributes()[slot.attribute].length == 1)
            return SlotId(s);
    }
    throw SettingError(
        "there is nothing to plan for: give reward=, a function of the states before and after; or let the "
        "model learn rewards, model.observe(before, action, after, reward); or give the schema a class "
        "'game' with a 'score' of length 1");
}

std::optional<SlotId> score_to_plan_for(Schema const& schema, RewardSource rewards) {
    return rewards == RewardSource::score ? std::optional(find_score(schema)) : std::nullopt;
}

// Predictions do not depend on a score that no fact is about, that changes by differences, and that no derived value
// can depend on.
bool can_ignore(Schema const& schema, SlotId slot) {
    Attribute const& score = schema.attribute(slot);
    return score.facts.empty() && !score.starts_by_value() && schema.derivation() == nullptr;
}

std::size_t argmax_with_random_ties(std::vector<double> const& scores, Random& random) {
    double const highest = *std::max_element(scores.begin(), scores.end());
    auto const ties = static_cast<std::size_t>(std::count(scores.begin(), scores.end(), highest));
    std::size_t skip = ties > 1 ? random.next() % ties : 0;
    for (std::size_t i = 0;; ++i)
        if (scores[i] == highest && skip-- == 0) return i;
}

}  // namespace

// ---- the root ----

Search::Search(State const& state, SearchSettings settings, std::uint64_t seed)
    : schema_(state.schema()), settings_(settings), score_(score_to_plan_for(*schema_, settings_.rewards)),
      ignores_score_(score_ && can_ignore(*schema_, *score_)), tie_breaks_(seed), samples_(~seed), root_state_(state) {
    if (schema_->actions().empty()) throw SettingError("there is nothing to choose from: the schema has no actions");
    reset(state);
}

void Search::reset(State const& state, bool forget_score) {
    if (!state.schema()->fits(*schema_)) throw StateError("the given state is of another schema than the model");
    std::size_t const games = score_ ? state.column(*score_)->rows() : 1;
    if (games != 1) throw StateError("planning needs exactly one game, the state has " + std::to_string(games));
    root_state_ = State(schema_, state.roster(), state.copy_of_columns(), &state);
    State root_node_state = forget_score ? root_state_ : node_state(root_state_);
    nodes_.clear();
    transposition_table_.clear();
    value_bounds_.reset();
    (void)find_or_add_node(std::move(root_node_state), 0);
}

bool Search::advance(ActionId action, State const& state) {
    if (root().edges.empty() || !state.schema()->fits(*schema_) || !(*state.roster() == *root_state_.roster()))
        return false;
    State const wanted = node_state(state);
    Int change = 0;
    bool const fits = score_ && subtract(score(state), score(root_state_), change);
    Outcome const* match = nullptr;  // an outcome with this state, preferably one with the same reward
    for (Outcome const& outcome : root().edges[action].outcomes) {
        bool const better =
            match == nullptr || (fits && outcome.score_change == change && match->score_change != change);
        if (better && nodes_[outcome.node].state == wanted) match = &outcome;
    }
    if (match == nullptr) return false;
    State new_root_state(schema_, root_state_.roster(), state.copy_of_columns(), &state);
    keep_only_below(match->node);
    root_state_ = std::move(new_root_state);
    return true;
}

// Renumbers the nodes that the new root can reach in breadth-first order, and drops the others. Everything that needs
// memory comes first, so that the tree stays as it was if there is none.
void Search::keep_only_below(NodeId new_root) {
    constexpr NodeId dropped = ~NodeId{0};
    std::vector<NodeId> new_id(nodes_.size(), dropped);
    std::vector<NodeId> order{new_root};
    new_id[new_root] = root_id;
    for (std::size_t i = 0; i < order.size(); ++i)
        for (Edge const& edge : nodes_[order[i]].edges)
            for (Outcome const& outcome : edge.outcomes) {
                if (new_id[outcome.node] != dropped) continue;
                new_id[outcome.node] = static_cast<NodeId>(order.size());
                order.push_back(outcome.node);
            }
    std::vector<Node> kept;
    kept.reserve(order.size());
    std::unordered_multimap<std::uint64_t, NodeId> table;
    for (std::size_t i = 0; i < order.size() && settings_.transpositions; ++i)
        table.emplace(transposition_key(nodes_[order[i]].state, nodes_[order[i]].depth), static_cast<NodeId>(i));
    for (NodeId const old_id : order) {
        for (Edge& edge : nodes_[old_id].edges)
            for (Outcome& outcome : edge.outcomes) outcome.node = new_id[outcome.node];
        kept.push_back(std::move(nodes_[old_id]));
    }
    nodes_ = std::move(kept);
    transposition_table_ = std::move(table);
}

std::vector<std::unique_ptr<Search::ChanceNode>> Search::release_chance_nodes() {
    std::vector<std::unique_ptr<ChanceNode>> released;
    for (Node& node : nodes_)
        for (Edge& edge : node.edges)
            if (edge.chance) released.push_back(std::move(edge.chance));
    return released;
}

// ---- one simulation ----

void Search::simulate(TransitionModel& model, std::uint64_t horizon) {
    path_.clear();
    NodeId at = root_id;
    for (bool is_new = false; !is_new && nodes_[at].depth - root().depth < horizon;) {
        if (nodes_[at].edges.empty()) nodes_[at].edges.resize(schema_->actions().size());
        ActionId const action = select_action(nodes_[at]);
        Visit const visit = visit_edge(model, at, action);
        path_.push_back({at, action, visit.outcome});
        Outcome const& outcome = nodes_[at].edges[action].outcomes[visit.outcome];
        at = outcome.node;
        is_new = visit.is_new || outcome.continuation == 0;
    }
    backup();
}

// ---- selection ----

ActionId Search::select_action(Node const& node) {
    compute_scores(node);
    return ActionId(argmax_with_random_ties(scores_, tie_breaks_));
}

// pUCT score of each action: its normalised value plus an exploration bonus,
//
//   Q(a) + c P(a) sqrt(N) / (1 + N(a))      with   c = exploration + ln((N + base + 1) / base),  P(a) = 1 / actions
//
// where an action that was never tried has the node's own value. Rewards may be of any size, so values are
// normalised by the range of those at the node; once there are random outcomes, by the range of all values of the
// search: otherwise a few unlucky samples could rule an action out.
void Search::compute_scores(Node const& node) {
    auto const visits = static_cast<double>(node.visits);
    double const prior = 1 / static_cast<double>(node.edges.size());
    double const bonus = (settings_.exploration + natural_log((visits + exploration_base + 1) / exploration_base)) *
                         prior * std::sqrt(visits);
    scores_.clear();
    MinMax bounds;
    bounds.update(node.value);
    for (Edge const& edge : node.edges) {
        scores_.push_back(edge.visits > 0 ? value(edge) : node.value);
        bounds.update(scores_.back());
    }
    if (value_bounds_) bounds = *value_bounds_;
    for (std::size_t a = 0; a < scores_.size(); ++a)
        scores_[a] = bounds.normalize(scores_[a]) + bonus / (1 + static_cast<double>(node.edges[a].visits));
}

// ---- expansion ----

// The model is asked once for each edge. After that a certain outcome is reused, a random one sampled again.
Search::Visit Search::visit_edge(TransitionModel& model, NodeId at, ActionId action) {
    Edge& edge = nodes_[at].edges[action];
    if (!edge.chance) {
        if (!edge.outcomes.empty()) return {0, false};
        PredictedTransition predicted = model.predict(nodes_[at].state, action);
        ++predictions_;
        edge.expected = predicted.feedback;
        if (auto const* const state = std::get_if<State>(&predicted.next))
            return visit_outcome(model, at, action, *state);
        edge.chance = std::make_unique<ChanceNode>();
        if (!value_bounds_) value_bounds_.emplace();
        edge.chance->distribution = std::move(std::get<std::unique_ptr<StateDistribution>>(predicted.next));
    }
    return visit_outcome(model, at, action, edge.chance->distribution->sample(samples_));
}

Search::Visit Search::visit_outcome(TransitionModel& model, NodeId at, ActionId action, State const& next) {
    if (!next.schema()->fits(*schema_))
        throw StateError("a predicted state is of another schema than the state that was asked about");
    check_same_objects(nodes_[at].state, next);
    Edge& edge = nodes_[at].edges[action];  // stays valid when a node is added: edges are not moved with their node
    auto const [reward, continuation] = model.feedback(nodes_[at].state, action, next, edge.expected);
    check_reward(reward);
    Outcome outcome{root_id, 0, reward, continuation};
    if (score_) {
        if (!subtract(score(next), score(nodes_[at].state), outcome.score_change))
            throw StateError("a predicted change of the score does not fit 64 bits");
        outcome.reward = static_cast<double>(outcome.score_change);
    }
    State const state = node_state(next);
    if (auto const known = find_outcome(edge, outcome, state)) return {*known, false};
    outcome.node = find_or_add_node(state, nodes_[at].depth + 1);
    edge.outcomes.push_back(outcome);
    std::size_t const place = edge.outcomes.size() - 1;
    if (edge.chance) edge.chance->outcomes_by_hash.emplace(state.hash(), place);
    return {place, true};
}

std::optional<std::size_t> Search::find_outcome(Edge const& edge, Outcome const& wanted, State const& state) const {
    if (!edge.chance) return std::nullopt;
    auto const [first, last] = edge.chance->outcomes_by_hash.equal_range(state.hash());
    for (auto each = first; each != last; ++each) {
        Outcome const& outcome = edge.outcomes[each->second];
        bool const same_feedback = outcome.score_change == wanted.score_change && outcome.reward == wanted.reward &&
                                   outcome.continuation == wanted.continuation;
        if (same_feedback && nodes_[outcome.node].state == state) return each->second;
    }
    return std::nullopt;
}

Search::NodeId Search::find_or_add_node(State state, std::uint64_t depth) {
    std::uint64_t const key = settings_.transpositions ? transposition_key(state, depth) : 0;
    if (settings_.transpositions) {
        auto const [first, last] = transposition_table_.equal_range(key);
        for (auto each = first; each != last; ++each)
            if (Node const& node = nodes_[each->second]; node.depth == depth && node.state == state)
                return each->second;
    }
    auto const node = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({std::move(state), depth, 1, 0, {}});
    // After the node: if memory runs out, the table names none that does not exist.
    if (settings_.transpositions) transposition_table_.emplace(key, node);
    return node;
}

// ---- backup ----

// A node's value is computed again from its edges, whose nodes may also have been visited through other parents. The
// share of a random outcome is updated only when that outcome is visited.
void Search::backup() {
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
        Node& node = nodes_[step->node];
        Edge& edge = node.edges[step->action];
        Outcome& outcome = edge.outcomes[step->outcome];
        ++outcome.visits;
        ++edge.visits;
        ++node.visits;
        if (edge.chance) {
            double const before = outcome.total_return;
            outcome.total_return = static_cast<double>(outcome.visits) * value(outcome);
            edge.chance->total_return = (edge.chance->total_return - before) + outcome.total_return;
        }
        if (value_bounds_) value_bounds_->update(value(edge));
        double total_return = 0;
        for (Edge const& each : node.edges)
            if (each.visits > 0) total_return += static_cast<double>(each.visits) * value(each);
        node.value = total_return / static_cast<double>(node.visits);
    }
}

double Search::value(Outcome const& outcome) const {
    return outcome.reward + settings_.discount * outcome.continuation * nodes_[outcome.node].value;
}

double Search::value(Edge const& edge) const {
    return edge.chance ? edge.chance->total_return / static_cast<double>(edge.visits) : value(edge.outcomes.front());
}

// ---- results ----

ActionId Search::best_action(Node const& node) const {
    auto const rank = [this](Edge const& edge) {
        auto const visits = static_cast<double>(edge.visits);
        double const mean = edge.visits > 0 ? value(edge) : -std::numeric_limits<double>::infinity();
        return settings_.choice == FinalChoice::most_visits ? std::pair(visits, mean) : std::pair(mean, visits);
    };
    std::size_t best = 0;
    for (std::size_t a = 1; a < node.edges.size(); ++a)
        if (rank(node.edges[a]) > rank(node.edges[best])) best = a;
    return ActionId(best);
}

std::vector<Search::Step> Search::principal_variation() const {
    std::vector<Step> steps;
    Int total_score = score_ ? score(root_state_) : 0;
    for (Node const* node = &root(); !node->edges.empty();) {
        ActionId const action = best_action(*node);
        auto const& outcomes = node->edges[action].outcomes;
        auto const fewer = [](Outcome const& a, Outcome const& b) { return a.visits < b.visits; };
        auto const likeliest = std::max_element(outcomes.begin(), outcomes.end(), fewer);
        if (likeliest == outcomes.end() || !add(total_score, likeliest->score_change, total_score)) break;
        node = &nodes_[likeliest->node];
        steps.push_back({action, score_ ? node->state.with(*score_, 0, VectorView(&total_score, 1)) : node->state});
        if (likeliest->continuation < 0.5) break;  // most likely the episode is over
    }
    return steps;
}

// ---- states of nodes ----

std::uint64_t Search::transposition_key(State const& state, std::uint64_t depth) {
    return Random(state.hash() ^ depth).next();
}

/// The state as nodes store it: with the root's score, if predictions do not depend on the score.
State Search::node_state(State const& state) const {
    std::vector<State::ColumnPtr> columns = state.copy_of_columns();
    if (ignores_score_) columns[*score_] = root().state.column(*score_);
    return {schema_, root_state_.roster(), std::move(columns), &state};
}

}  // namespace treethink
