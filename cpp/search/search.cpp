#include "search/search.hpp"

#include <algorithm>
#include <cmath>

#include "learning/fixed_point_log.hpp"
#include "model.hpp"

namespace treethink {

namespace {

// Exploration grows slowly with the visits of a node (Schrittwieser et al. 2020).
constexpr double growth = 19652;

SlotId score_of(Schema const& schema) {
    for (std::size_t s = 0; s < schema.slots().size(); ++s) {
        auto const& slot = schema.slots()[s];
        if (schema.classes()[slot.class_id].name == "game" && schema.attributes()[slot.attribute].name == "score" &&
            schema.attributes()[slot.attribute].length == 1)
            return SlotId(s);
    }
    throw SettingError("there is nothing to plan for: the schema has no class 'game' with a 'score' of length 1");
}

// Nothing that happens depends on it, and it changes by differences.
bool is_idle(Attribute const& score) { return score.facts.empty() && !score.outcomes_are_values; }

}  // namespace

std::uint64_t Random::next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void Search::Range::see(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
}

// ---- the root ----

Search::Search(State const& state, SearchSettings settings, std::uint64_t seed)
    : schema_(state.schema()), settings_(settings), score_(score_of(*schema_)),
      without_score_(is_idle(schema_->attributes()[schema_->slots()[score_].attribute])), ties_(seed), draws_(~seed),
      now_(state) {  // two streams: what is left to chance does not decide ties
    if (schema_->actions().empty()) throw SettingError("there is nothing to choose from: the schema has no actions");
    start(state);
}

void Search::start(State const& state, bool anew) {
    if (!(*state.schema() == *schema_)) throw StateError("the given state is of another schema than the model");
    std::size_t const games = state.column(score_)->rows();
    if (games != 1) throw StateError("planning needs exactly one game, the state has " + std::to_string(games));
    now_ = State(schema_, state.roster(), state.columns());
    State root_state = anew ? now_ : situation(now_);
    nodes_.clear();
    known_.clear();
    range_.reset();
    (void)node_for(std::move(root_state), 0);
}

bool Search::follow(ActionId action, State const& now) {
    if (root().edges.empty() || !(*now.schema() == *schema_) || !(*now.roster() == *now_.roster())) return false;
    State const wanted = situation(now);
    Int reward = 0;
    bool const fits = subtract(score(now), score(now_), reward);
    Outcome const* found = nullptr;  // the same situation, and if possible with the same reward
    for (Outcome const& outcome : root().edges[action].outcomes) {
        bool const better = found == nullptr || (fits && outcome.reward == reward && found->reward != reward);
        if (better && nodes_[outcome.node].state == wanted) found = &outcome;
    }
    if (found == nullptr) return false;
    now_ = State(schema_, now_.roster(), now.columns());
    keep_only(found->node);
    return true;
}

std::vector<std::unique_ptr<Search::Drawn>> Search::give_up() {
    std::vector<std::unique_ptr<Drawn>> given;
    for (Node& node : nodes_)
        for (Edge& edge : node.edges)
            if (edge.drawn) given.push_back(std::move(edge.drawn));
    return given;
}

// Moves what can be reached from the new root to the front, in the order in which it is met.
void Search::keep_only(NodeId root) {
    constexpr NodeId gone = ~NodeId{0};
    std::vector<NodeId> moved(nodes_.size(), gone);
    std::vector<NodeId> order{root};
    moved[root] = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
        for (Edge& edge : nodes_[order[i]].edges)
            for (Outcome& outcome : edge.outcomes) {
                if (moved[outcome.node] == gone) {
                    moved[outcome.node] = static_cast<NodeId>(order.size());
                    order.push_back(outcome.node);
                }
                outcome.node = moved[outcome.node];
            }
    std::vector<Node> kept;
    kept.reserve(order.size());
    known_.clear();
    for (NodeId const each : order) {
        if (settings_.merge)
            known_.emplace(key(nodes_[each].state, nodes_[each].depth), static_cast<NodeId>(kept.size()));
        kept.push_back(std::move(nodes_[each]));
    }
    nodes_ = std::move(kept);
}

// ---- one simulation ----

void Search::simulate(Foresight& foresight, std::uint64_t horizon) {
    path_.clear();
    NodeId at = 0;
    for (bool is_new = false; !is_new && nodes_[at].depth - root().depth < horizon;) {
        if (nodes_[at].edges.empty()) nodes_[at].edges.resize(schema_->actions().size());
        ActionId const action = select(nodes_[at]);
        auto const [outcome, first_seen] = step(foresight, at, action);
        path_.push_back({at, action, outcome});
        at = nodes_[at].edges[action].outcomes[outcome].node;
        is_new = first_seen;
    }
    back_up();
}

// pUCT: how good an action looks, and how little it was tried. What was never tried looks like the node itself. Rewards
// may be of any size, so values are measured by those beside them; but where chance has a say, by all values of the
// search: a few unlucky draws must not rule an action out.
ActionId Search::select(Node const& node) {
    auto const visits = static_cast<double>(node.visits);
    double const prior = 1 / static_cast<double>(node.edges.size());
    double const unsure =
        (settings_.exploration + natural_log((visits + growth + 1) / growth)) * prior * std::sqrt(visits);
    scores_.clear();
    Range range;
    range.see(node.value);
    for (Edge const& edge : node.edges) {
        scores_.push_back(edge.visits > 0 ? value(edge) : node.value);
        range.see(scores_.back());
    }
    if (range_) range = *range_;
    for (std::size_t a = 0; a < scores_.size(); ++a)
        scores_[a] = range.share(scores_[a]) + unsure / (1 + static_cast<double>(node.edges[a].visits));
    double const most = *std::max_element(scores_.begin(), scores_.end());
    auto const equal = static_cast<std::size_t>(std::count(scores_.begin(), scores_.end(), most));
    std::size_t left = equal > 1 ? ties_.next() % equal : 0;
    for (std::size_t a = 0;; ++a)
        if (scores_[a] == most && left-- == 0) return ActionId(a);
}

std::pair<std::size_t, bool> Search::step(Foresight& foresight, NodeId at, ActionId action) {
    Edge& edge = nodes_[at].edges[action];
    if (!edge.drawn) {
        if (!edge.outcomes.empty()) return {0, false};
        Foreseen foreseen = foresight.foresee(nodes_[at].state, action);
        ++predictions_;
        if (auto const* const state = std::get_if<State>(&foreseen)) return reach(at, action, *state);
        edge.drawn = std::make_unique<Drawn>();
        if (!range_) range_.emplace();
        edge.drawn->chance = std::move(std::get<std::unique_ptr<Chance>>(foreseen));
    }
    return reach(at, action, edge.drawn->chance->draw(draws_));
}

std::pair<std::size_t, bool> Search::reach(NodeId at, ActionId action, State const& next) {
    if (next.schema() != schema_ && !(*next.schema() == *schema_))
        throw StateError("a predicted state is of another schema than the state that was asked about");
    check_same_objects(nodes_[at].state, next);
    Int reward = 0;
    if (!subtract(score(next), score(nodes_[at].state), reward))
        throw StateError("a predicted change of the score does not fit 64 bits");
    State const reached = situation(next);
    Edge& edge = nodes_[at].edges[action];  // which stays where it is when there are more nodes
    if (auto const known = find(edge, reward, reached)) return {*known, false};
    NodeId const node = node_for(reached, nodes_[at].depth + 1);
    edge.outcomes.push_back({node, reward});
    std::size_t const outcome = edge.outcomes.size() - 1;
    if (edge.drawn) edge.drawn->known.emplace(reached.hash(), outcome);
    return {outcome, true};
}

std::optional<std::size_t> Search::find(Edge const& edge, Int reward, State const& reached) const {
    if (!edge.drawn) return std::nullopt;
    auto const [first, last] = edge.drawn->known.equal_range(reached.hash());
    for (auto each = first; each != last; ++each) {
        Outcome const& outcome = edge.outcomes[each->second];
        if (outcome.reward == reward && nodes_[outcome.node].state == reached) return each->second;
    }
    return std::nullopt;
}

Search::NodeId Search::node_for(State state, std::uint64_t depth) {
    if (settings_.merge) {
        std::uint64_t const own = key(state, depth);
        auto const [first, last] = known_.equal_range(own);
        for (auto each = first; each != last; ++each)
            if (Node const& node = nodes_[each->second]; node.depth == depth && node.state == state)
                return each->second;
        known_.emplace(own, static_cast<NodeId>(nodes_.size()));
    }
    nodes_.push_back({std::move(state), depth, 1, 0, {}});
    return static_cast<NodeId>(nodes_.size() - 1);
}

// Values of nodes on the path, from the bottom up. What lies below may have learned on other ways too; where it is
// drawn, that is seen when it is drawn again.
void Search::back_up() {
    for (auto taken = path_.rbegin(); taken != path_.rend(); ++taken) {
        Node& node = nodes_[taken->node];
        Edge& edge = node.edges[taken->action];
        Outcome& outcome = edge.outcomes[taken->outcome];
        ++outcome.count;
        ++edge.visits;
        ++node.visits;
        if (edge.drawn) {
            double const before = outcome.worth;
            outcome.worth = static_cast<double>(outcome.count) * value(outcome);
            edge.drawn->worth = (edge.drawn->worth - before) + outcome.worth;
        }
        if (range_) range_->see(value(edge));
        double all = 0;
        for (Edge const& each : node.edges)
            if (each.visits > 0) all += static_cast<double>(each.visits) * value(each);
        node.value = all / static_cast<double>(node.visits);
    }
}

// ---- what came of it ----

double Search::value(Outcome const& outcome) const {
    return static_cast<double>(outcome.reward) + settings_.discount * nodes_[outcome.node].value;
}

double Search::value(Edge const& edge) const {
    return edge.drawn ? edge.drawn->worth / static_cast<double>(edge.visits) : value(edge.outcomes.front());
}

ActionId Search::best(Node const& node) const {
    auto const rank = [this](Edge const& edge) {
        auto const visits = static_cast<double>(edge.visits);
        double const mean = edge.visits > 0 ? value(edge) : -std::numeric_limits<double>::infinity();
        return settings_.choice == Choice::visits ? std::pair(visits, mean) : std::pair(mean, visits);
    };
    std::size_t best = 0;
    for (std::size_t a = 1; a < node.edges.size(); ++a)
        if (rank(node.edges[a]) > rank(node.edges[best])) best = a;
    return ActionId(best);
}

std::vector<Search::Step> Search::variation() const {
    std::vector<Step> steps;
    Int score = this->score(now_);
    for (Node const* node = &root(); !node->edges.empty();) {
        ActionId const action = best(*node);
        auto const& outcomes = node->edges[action].outcomes;
        auto const fewer = [](Outcome const& a, Outcome const& b) { return a.count < b.count; };
        auto const likeliest = std::max_element(outcomes.begin(), outcomes.end(), fewer);
        if (likeliest == outcomes.end() || !add(score, likeliest->reward, score)) break;
        node = &nodes_[likeliest->node];
        steps.push_back({action, node->state.with(score_, 0, VectorView(&score, 1))});
    }
    return steps;
}

// ---- situations ----

std::uint64_t Search::key(State const& state, std::uint64_t depth) const { return Random(state.hash() ^ depth).next(); }

/// The state, with the score that the first one had, if nothing depends on it.
State Search::situation(State const& state) const {
    if (!without_score_) return {schema_, now_.roster(), state.columns()};
    std::vector<State::ColumnPtr> columns = state.columns();
    columns[score_] = root().state.column(score_);
    return {schema_, now_.roster(), std::move(columns)};
}

// ---- models ----

namespace {

class PredictionChance final : public Chance {
public:
    explicit PredictionChance(Prediction prediction) : prediction_(std::move(prediction)) {}
    State draw(Random& random) override {
        numbers_.resize(prediction_.choices());
        for (double& each : numbers_) each = random.uniform();
        return prediction_.sample(numbers_);
    }

private:
    Prediction prediction_;
    std::vector<double> numbers_;
};

}  // namespace

Foreseen ModelForesight::foresee(State const& state, ActionId action) {
    Prediction prediction = model_.predict(state, action, FactsMode::demand, BindingsMode::first);
    if (prediction.choices() == 0) return prediction.mode();
    return std::make_unique<PredictionChance>(std::move(prediction));
}

}  // namespace treethink
