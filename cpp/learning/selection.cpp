#include "learning/selection.hpp"

#include <limits>

namespace treethink {

namespace {

// Keeps the best of the candidates that it is offered.
class Selection {
public:
    Selection(LearningContext& context, Node const& node, Sample const& sample)
        : context_(context), node_(node), sample_(sample) {}

    void offer(CandidateId candidate, double score) {
        if (score < floor()) return;
        if (!best_ || score > best_->score + margin() || is_preferred(candidate)) best_ = {candidate, score};
    }
    // Scores below this cannot win.
    [[nodiscard]] double floor() const {
        return best_ ? best_->score - margin() : -std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] std::optional<BestCandidate> best() const { return best_; }

private:
    [[nodiscard]] double margin() const { return context_.criterion.tie_margin(best_->score); }

    // Of two candidates whose scores are close: exact order, then canonical order.
    bool is_preferred(CandidateId candidate) {
        CandidateId const old = best_->candidate;
        Candidates const& all = node_.candidates;
        all.find(candidate.block)->read_counts(candidate.code, node_.stats.totals, new_counts_);
        all.find(old.block)->read_counts(old.code, node_.stats.totals, old_counts_);
        if (new_counts_ != old_counts_) {
            auto const order = context_.criterion.compare(new_counts_, old_counts_, sample_);
            if (order != 0) return order > 0;
        }
        return canonical_order(context_.codes.types(), node_.variable_classes.size(),
                               test_of(context_.codes, node_, candidate), test_of(context_.codes, node_, old)) < 0;
    }

    LearningContext& context_;
    Node const& node_;
    Sample const& sample_;
    std::optional<BestCandidate> best_;
    std::vector<Count> new_counts_, old_counts_;
};

// Description length of a branch's test, if the criterion charges for it.
double length_of(LearningContext& context, Node const& branch) {
    if (branch.uncounted_test.in_place()) return static_cast<double>(branch.uncounted_test.description_length);
    auto const [block, code] = branch.test_candidate;
    return context.criterion.description_length(context.codes, branch.candidates.table()[block], code);
}

}  // namespace

std::optional<BestCandidate> best_candidate(LearningContext& context, Node const& node, Sample const& sample) {
    Criterion const& criterion = context.criterion;
    Selection selection(context, node, sample);
    auto& scores = context.scratch.scores;
    node.candidates.each([&](std::size_t b, BlockCounters const& counters) {
        if (counters.size() == 0) return;
        Block const& block = node.candidates.table()[b];
        Count const* const counts = counters.all_counts(node.stats.totals, context.scratch.counts);
        criterion.scores(counts, counters.stride, counters.size(), sample, scores);
        double const min_length = criterion.min_description_length(block);
        for (std::size_t i = 0; i < counters.size(); ++i) {
            if (scores[i] - min_length < selection.floor()) continue;
            Code const code = counters.codes[i];
            CandidateId const candidate{b, code};
            if (!node.is_leaf() && node.test_candidate == candidate) continue;
            selection.offer(candidate, scores[i] - criterion.description_length(context.codes, block, code));
        }
    });
    return selection.best();
}

NodeScores score_node(LearningContext& context, Node const& node) {
    Criterion const& criterion = context.criterion;
    Sample const sample = node.stats.sample();
    auto& counts = context.scratch.counts;
    counts.assign(sample.totals.size(), 0);
    double const no_test = criterion.score(counts, sample);
    if (node.is_leaf()) return {no_test, no_test, criterion.threshold(counts, sample, no_test)};
    read_test_counts(node, counts);
    double const length = length_of(context, node);
    double const test = criterion.score(counts, sample) - length;
    return {no_test, test, criterion.threshold(counts, sample, test)};
}

}  // namespace treethink
