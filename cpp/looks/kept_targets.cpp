#include "looks/kept_targets.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/hash.hpp"

namespace treethink {

// The values after the transition count too: outcomes that the rule does not tell apart may differ in another frame.
std::uint64_t hash_of_target(Tree const& tree, std::uint64_t transition, State const& before, State const& after,
                             Tree::Target const& target) {
    std::uint64_t hash = scramble(transition);
    if (target.arguments.empty()) return hash;
    auto const& slots = before.schema()->slots();
    for (State const* const state : {&before, &after})
        for (std::size_t s = 0; s < slots.size(); ++s)
            if (slots[s].class_id == tree.arguments().front())
                hash = hash_of(state->value(SlotId(s), target.arguments.front()), hash);
    return hash;
}

TargetCollector::TargetCollector(Tree const& tree, NodeId node, std::size_t max_targets)
    : tree_(tree), node_(node), max_targets_(max_targets), drawn_of_outcome_(2 * max_targets) {
    constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    for (Count const n : tree.nodes()[node].stats.totals)
        by_outcome_.push_back({n <= drawn_of_outcome_ ? all : all / n * drawn_of_outcome_});
}

bool TargetCollector::is_full() const {
    return std::all_of(by_outcome_.begin(), by_outcome_.end(), [&](Search const& each) { return is_done(each); });
}

// Those of one transition are searched in the order of their hashes, which does not depend on ids.
void TargetCollector::add(std::vector<FactType> const& types, State const& before, State const& after,
                          std::span<Tree::Target const> targets) {
    ++transition_;
    drawn_.clear();
    for (Tree::Target const& target : targets) {
        if (is_done(by_outcome_[target.outcome])) continue;
        std::uint64_t const hash = hash_of_target(tree_, transition_, before, after, target);
        if (hash <= by_outcome_[target.outcome].max_hash) drawn_.push_back({hash, target});
    }
    std::stable_sort(drawn_.begin(), drawn_.end(), [](Drawn const& a, Drawn const& b) { return a.hash < b.hash; });
    for (Drawn const& each : drawn_) search(types, before, after, each.target);
}

void TargetCollector::search(std::vector<FactType> const& types, State const& before, State const& after,
                             Tree::Target const& target) {
    ++by_outcome_[target.outcome].searched;
    bindings_.width = target.arguments.size();
    bindings_.rows.assign(target.arguments.begin(), target.arguments.end());
    narrow(tree_.nodes(), FactsOnDemand(before), types, bindings_, extended_, [&](Node const& node) {
        if (&node != &tree_.nodes()[node_]) return;
        ++by_outcome_[target.outcome].reached;
        targets_.push_back({&before, &after, transition_, bindings_, target.outcome});
    });
}

// The place of a target among those with its outcome says in which turn it comes; the first ones stay.
std::vector<KeptTarget> TargetCollector::take() {
    if (targets_.size() > max_targets_) {
        std::map<std::uint32_t, std::size_t> seen;               // by outcome
        std::vector<std::pair<std::size_t, std::size_t>> turns;  // and the position of the target
        turns.reserve(targets_.size());
        for (std::size_t t = 0; t < targets_.size(); ++t) turns.emplace_back(seen[targets_[t].outcome]++, t);
        std::sort(turns.begin(), turns.end());
        std::vector<bool> chosen(targets_.size(), false);
        for (std::size_t i = 0; i < max_targets_; ++i) chosen[turns[i].second] = true;
        std::size_t t = 0;
        std::erase_if(targets_, [&](KeptTarget const&) { return !chosen[t++]; });
    }
    return std::move(targets_);
}

std::vector<std::uint32_t> LookSample::outcomes_of(std::span<KeptTarget const> targets) {
    std::vector<std::uint32_t> outcomes;
    outcomes.reserve(targets.size());
    for (KeptTarget const& each : targets) outcomes.push_back(each.outcome);
    return outcomes;
}

LookSample::LookSample(std::span<std::uint32_t const> outcomes, std::uint64_t design_effect)
    : size_(outcomes.size()), design_effect_(design_effect) {
    std::vector<std::uint32_t> known;
    for (std::size_t t = 0; t < outcomes.size(); ++t) {
        auto const place = static_cast<std::size_t>(std::find(known.begin(), known.end(), outcomes[t]) - known.begin());
        if (place == known.size()) {
            known.push_back(outcomes[t]);
            by_outcome_.emplace_back(outcomes.size());
        }
        by_outcome_[place].set(t);
    }
    for (TargetSet const& each : by_outcome_) totals_.push_back(static_cast<Count>(each.count()));
}

void LookSample::count(TargetSet const& targets, std::vector<Count>& counts) const {
    counts.resize(outcomes());
    for (std::size_t y = 0; y < outcomes(); ++y)
        counts[y] = static_cast<Count>(TargetSet::count_of_both(targets, by_outcome_[y]));
}

}  // namespace treethink
