#include "looks/kept_targets.hpp"

#include <algorithm>

namespace treethink {

void TargetCollector::add(std::vector<FactType> const& types, State const& before,
                          std::span<Tree::Target const> targets) {
    ++transition_;
    FactsOnDemand const facts(before);
    for (Tree::Target const& target : targets) {
        if (is_full()) return;
        ++searched_;
        bindings_.width = target.arguments.size();
        bindings_.rows.assign(target.arguments.begin(), target.arguments.end());
        bool reached = false;
        Bindings at_node;
        narrow(tree_.nodes(), facts, types, bindings_, extended_, [&](Node const& node) {
            if (&node != &tree_.nodes()[node_]) return;
            reached = true;
            at_node = bindings_;
        });
        if (reached) targets_.push_back({&before, transition_, std::move(at_node), target.outcome});
    }
}

LookSample::LookSample(std::span<KeptTarget const> targets, Criterion const& criterion) {
    std::vector<std::uint32_t> known, outcomes;
    for (KeptTarget const& target : targets) {
        auto const place = std::find(known.begin(), known.end(), target.outcome);
        outcomes.push_back(static_cast<std::uint32_t>(place - known.begin()));
        if (place == known.end()) known.push_back(target.outcome);
    }
    by_outcome_.resize(known.size());
    stats_.totals.assign(known.size(), 0);
    stats_.n = targets.size();
    for (std::size_t t = 0; t < targets.size(); ++t) {
        ++stats_.totals[outcomes[t]];
        by_outcome_[outcomes[t]].set(t);
        criterion.count_cluster(stats_.clusters, targets[t].transition, outcomes[t], known.size());
    }
    stats_.design_effect = stats_.clusters.design_effect(stats_.totals, stats_.n);
}

void LookSample::count(TargetSet const& targets, std::vector<Count>& counts) const {
    counts.resize(outcomes());
    for (std::size_t y = 0; y < outcomes(); ++y) counts[y] = static_cast<Count>((targets & by_outcome_[y]).count());
}

}  // namespace treethink
