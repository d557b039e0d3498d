// evidence.cpp - a Bayes factor: how much more probable the outcomes are when a test splits them.
//
// A test is scored by the logarithm of the probability (marginal likelihood) that it gives to the
// outcomes: those where it held and those where it failed each come from a distribution of their own,
// unknown and averaged over. Each half either has always the same outcome, as most rules have it, or
// may have any (Krichevsky-Trofimov estimator: Jeffreys's prior). Tests pay for their description length
// (MDL), and dependent observations are discounted by their design effect.
//
// docs/evidence.md has the reasoning, and what is guaranteed.
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "learning/candidates.hpp"
#include "learning/criterion.hpp"
#include "learning/fixed_point_log.hpp"
#include "learning/node.hpp"

namespace treethink {

namespace {

// A node is checked again when its loss has grown by one part in so many.
constexpr Log check_interval = 32;

/// How many of the outcomes were seen at all.
std::uint64_t distinct_outcomes(Counts totals) {
    return static_cast<std::uint64_t>(std::count_if(totals.begin(), totals.end(), [](Count n) { return n > 0; }));
}

/// Effective number of observations. Rounded up: what was seen was seen.
std::uint64_t effective_count(std::uint64_t count, std::uint64_t design_effect) {
    return design_effect == 1 ? count : (count + design_effect - 1) / design_effect;
}

/// Log probability of a sequence of outcomes, each predicted from those before it.
class Forecast {
public:
    explicit Forecast(Sample const& sample)
        : sample_(sample), outcomes_(sample.outcomes > 0 ? sample.outcomes : distinct_outcomes(sample.totals)),
          log_outcomes_(logs_.number(std::max<std::uint64_t>(outcomes_, 1))), log2_(logs_.number(2)),
          log6_(logs_.number(6)) {}

    /// With a test that held so often. A test that always or never held says nothing.
    template <class TruesOf>
    [[nodiscard]] Log operator()(TruesOf const& trues_of) const {
        return score(tally(trues_of));
    }
    /// Without a test.
    [[nodiscard]] Log without_test() const {
        return (*this)([](std::size_t) { return Count{0}; });
    }

    /// The same for many tests, row by row of their counters: mostly, a test held with few of the outcomes, and as
    /// often as its neighbour, which was first true in the same transition.
    void score_all(Count const* trues, std::size_t stride, std::span<double> scores) const {
        constexpr std::size_t at_once = 128;
        Tally const never_held = tally([](std::size_t) { return Count{0}; });
        std::array<Tally, at_once> tallies;
        std::array<Count, at_once> differs{};  // from its neighbour; the first has none
        for (std::size_t begin = 0; begin < scores.size(); begin += at_once) {
            std::span<double> const some = scores.subspan(begin, std::min(at_once, scores.size() - begin));
            find_different(trues + begin, stride, std::span(differs).first(some.size()));
            std::fill_n(tallies.begin(), some.size(), never_held);
            for (std::size_t y = 0; y < sample_.totals.size(); ++y) {
                if (sample_.totals[y] == 0) continue;
                Count const* const row = trues + y * stride + begin;
                for (std::size_t i = 0; i < some.size(); ++i)
                    if (row[i] > 0 && differs[i] != 0) move_to_held(tallies[i], sample_.totals[y], row[i]);
            }
            for (std::size_t i = 0; i < some.size(); ++i)
                some[i] = differs[i] != 0 ? static_cast<double>(score(tallies[i])) : some[i - 1];
        }
    }

private:
    /// The observations in which the test held, or those in which it failed.
    struct Half {
        Log any;                     // log probability if any outcome may come (KT estimator)
        std::uint64_t outcomes = 0;  // that were seen in it
        std::uint64_t n = 0;         // effective number of observations

        void add(Log log, std::uint64_t count) {
            any += log;
            n += count;
            ++outcomes;
        }
        void remove(Log log, std::uint64_t count) {
            any -= log;
            n -= count;
            --outcomes;
        }
    };
    struct Tally {
        Half held, failed;  // `any` lacks the denominators
    };

    void find_different(Count const* trues, std::size_t stride, std::span<Count> differs) const {
        std::fill(differs.begin(), differs.end(), Count{0});
        for (std::size_t y = 0; y < sample_.totals.size(); ++y) {
            Count const* const row = trues + y * stride;
            for (std::size_t i = 1; i < differs.size(); ++i) differs[i] |= row[i] ^ row[i - 1];
        }
        differs[0] = 1;
    }

    template <class TruesOf>
    [[nodiscard]] Tally tally(TruesOf const& trues_of) const {
        Tally tally{};
        for (std::size_t y = 0; y < sample_.totals.size(); ++y) {
            Count const trues = trues_of(y);
            add(tally.held, trues);
            add(tally.failed, sample_.totals[y] - trues);
        }
        return tally;
    }
    /// Of `total` observations of an outcome, which are counted as failed, `trues` have held.
    void move_to_held(Tally& tally, Count total, Count trues) const {
        std::uint64_t const count = effective_count(total, sample_.design_effect);
        tally.failed.remove(logs_.odd_product(count), count);
        add(tally.failed, total - trues);
        add(tally.held, trues);
    }
    void add(Half& half, Count observed) const {
        std::uint64_t const count = effective_count(observed, sample_.design_effect);
        if (count > 0) half.add(logs_.odd_product(count), count);
    }
    [[nodiscard]] Log score(Tally tally) const {
        auto& [held, failed] = tally;
        for (Half* const half : {&held, &failed})
            if (half->n > 0) half->any -= logs_.step_product(outcomes_, half->n);
        return held.outcomes > 0 && failed.outcomes > 0 ? split(held, failed)
                                                        : unsplit(held.outcomes > 0 ? held : failed);
    }
    [[nodiscard]] Log unsplit(Half const& all) const {
        return std::max(all.any, all.outcomes == 1 ? -log_outcomes_ : all.any) - log2_;
    }
    // Prior: 1/2 if both halves are sure, each of another outcome; 1/6 if the first, the second, or neither is.
    [[nodiscard]] Log split(Half const& held, Half const& failed) const {
        Log const sure_held = held.outcomes == 1 ? -log_outcomes_ : held.any;
        Log const sure_failed = failed.outcomes == 1 ? -log_outcomes_ : failed.any;
        Log const mixed = std::max({held.any + failed.any, sure_held + failed.any, held.any + sure_failed}) - log6_;
        bool const both_sure = held.outcomes == 1 && failed.outcomes == 1 && outcomes_ == 2;
        return both_sure ? std::max(mixed, -log_outcomes_ - log2_) : mixed;
    }

    LogTables const& logs_ = LogTables::get();
    Sample sample_;
    std::uint64_t outcomes_;  // that may come
    Log log_outcomes_, log2_, log6_;
};

class Evidence : public Criterion {
public:
    explicit Evidence(double alpha) : required_lead_(static_cast<double>(log_of_inverse(alpha))) {}

    // ---- scores, in units of a Log ----

    [[nodiscard]] double score(Counts trues, Sample const& sample) const override {
        return static_cast<double>(Forecast(sample)([&](std::size_t y) { return trues[y]; }));
    }
    void scores(Count const* trues, std::size_t stride, std::size_t tests, Sample const& sample,
                std::vector<double>& scores) const override {
        scores.resize(tests);
        Forecast(sample).score_all(trues, stride, scores);
    }
    /// Scores are whole numbers already.
    [[nodiscard]] std::strong_ordering compare(Counts trues_a, Counts trues_b, Sample const& sample) const override {
        double const a = score(trues_a, sample), b = score(trues_b, sample);
        return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
    }
    [[nodiscard]] double tie_margin(double) const override { return 0; }
    [[nodiscard]] double description_length(Codes const& codes, Block const& block, Code code) const override {
        return static_cast<double>(treethink::description_length(codes, block, code));
    }
    [[nodiscard]] double min_description_length(Block const& block) const override {
        return static_cast<double>(block.description_length);
    }

    // ---- decisions ----

    /// A Bayes factor of more than 1 / alpha.
    [[nodiscard]] bool surely_better(double score, double than, std::uint64_t) const override {
        return score - than > required_lead_;
    }
    [[nodiscard]] bool worth_keeping(double test, double no_test, std::uint64_t) const override {
        return test >= no_test;
    }
    /// More outcomes are never more probable than fewer.
    [[nodiscard]] double max_gain() const override { return 0; }
    /// Beyond its tables, step_product() rounds sums instead of terms, and doubles have 53 bits.
    [[nodiscard]] double rounding_slack() const override { return 64; }

    // ---- what a node needs besides counts ----

    void count_cluster(ClusterStats& clusters, std::uint64_t transition, std::uint32_t outcome,
                       std::size_t outcomes) const override {
        clusters.add(transition, outcome, outcomes);
    }
    [[nodiscard]] bool is_check_due(NodeStats& stats) const override;
    [[nodiscard]] double explained_below(Codes const& codes, std::vector<Node> const& nodes,
                                         NodeId branch) const override;
    [[nodiscard]] bool looks_ahead() const override { return true; }
    void update_settled(std::vector<Node>& nodes) const override;

private:
    double required_lead_;  // ln(1 / alpha), in units of a Log
};

// A check is due when the loss without a test has grown by a part since the last one. Unexpected outcomes trigger a
// check immediately; expected ones defer it.
bool Evidence::is_check_due(NodeStats& stats) const {
    if (stats.n < stats.next_check) return false;
    Log const loss = -Forecast(Sample{stats.totals}).without_test();
    Log const missing = stats.last_checked_loss + stats.last_checked_loss / check_interval - loss;
    if (missing > 0) {
        // No outcome adds more to the loss than a new one would. Bound on that until n has doubled:
        Log const max_increase = LogTables::get().number(4 * stats.n + 2 * stats.totals.size());
        stats.next_check = stats.n + std::min(stats.n, static_cast<std::uint64_t>(missing / max_increase));
        return false;
    }
    stats.last_checked_loss = loss;
    std::uint64_t const design_effect = stats.clusters.design_effect(stats.totals, stats.n);
    if (design_effect != stats.design_effect) {
        stats.design_effect = design_effect;
        stats.score_bound = std::numeric_limits<double>::infinity();  // it was a bound on other scores
    }
    return true;
}

// The scores of the leaves, less the description lengths of the tests between, less the score of the branch's own
// test; scaled to as many observations as the branch has counted. A change of test throws this away, so a challenger
// must make up for a part of it: otherwise tests that are equally good, of which each needs the others below it, would
// take turns for ever.
double Evidence::explained_below(Codes const& codes, std::vector<Node> const& nodes, NodeId branch) const {
    Log explained = 0;
    std::uint64_t n = 0;
    for (NodeId const at : subtree(nodes, branch)) {
        Node const& node = nodes[at];
        if (node.is_leaf()) {
            explained += Forecast(Sample{node.stats.totals}).without_test();
            n += node.stats.n;
        } else if (at != branch) {
            explained -= length_of_test(codes, node);
        }
    }
    if (n == 0) return 0;
    Node const& node = nodes[branch];
    std::vector<Count> trues;
    read_test_counts(node, trues);
    double const scaled = static_cast<double>(explained) * static_cast<double>(node.stats.n) / static_cast<double>(n);
    return std::max(0.0, scaled - score(trues, Sample{node.stats.totals}));
}

// While every leaf below a branch has seen one outcome only, another test could not do better, just look better.
void Evidence::update_settled(std::vector<Node>& nodes) const {
    if (nodes.empty()) return;
    std::vector<NodeId> const order = subtree(nodes, kRoot);
    auto const is_explained = [&](NodeId at) {
        Node const& node = nodes[at];
        return node.is_leaf() ? node.edits.pinned || node.stats.is_pure() : node.settled;
    };
    for (auto at = order.rbegin(); at != order.rend(); ++at) {  // children before their parents
        Node& node = nodes[*at];
        if (!node.is_leaf()) node.settled = is_explained(node.left) && is_explained(node.right);
    }
}

/// The same against the best forecast in hindsight with the test in place: an e-process, so alpha bounds the
/// probability of ever deciding by chance, however often it is checked.
///
/// It is not known beforehand which outcomes there are, or how many: what counts is the pattern, which earlier outcome
/// came again. The first occurrence of each outcome could not be predicted, and costs nothing here. A forecast for K
/// outcomes has a share of 1 / (K (K - 1)) in the prior, and K! ways to name them: together (K - 2)!.
class Proven final : public Evidence {
public:
    using Evidence::Evidence;

    [[nodiscard]] double threshold(Counts trues, Sample const& sample, double) const override {
        Log const held = hindsight(trues, sample, true), failed = hindsight(trues, sample, false);
        return static_cast<double>(held + failed - log_namings(distinct_outcomes(sample.totals)));
    }

private:
    // Maximum log likelihood of one half, without the first occurrence of each outcome.
    static Log hindsight(Counts trues, Sample const& sample, bool held) {
        LogTables const& logs = LogTables::get();
        Log log = 0;
        std::uint64_t n = 0;
        for (std::size_t y = 0; y < trues.size(); ++y) {
            std::uint64_t const observed = held ? trues[y] : sample.totals[y] - trues[y];
            std::uint64_t const count = effective_count(observed, sample.design_effect);
            std::uint64_t const again = count > 0 ? count - 1 : 0;
            log += logs.power(again);
            n += again;
        }
        return log - logs.power(n);
    }
    // ln (K - 2)!
    static Log log_namings(std::uint64_t outcomes) {
        Log log = 0;
        for (std::uint64_t k = 2; k + 2 <= outcomes; ++k) log += LogTables::get().number(k);
        return log;
    }
};

}  // namespace

std::unique_ptr<Criterion const> make_evidence(double alpha) { return std::make_unique<Evidence>(alpha); }
std::unique_ptr<Criterion const> make_proven(double alpha) { return std::make_unique<Proven>(alpha); }

}  // namespace treethink
