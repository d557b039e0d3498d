// criterion.hpp - when one test is surely better than another.
//
// All tests of a node saw the same transitions, so a test is judged by how often it held with
// each outcome (`trues`), beside the node's totals. A criterion turns that into a score, orders
// scores exactly, and says when a lead is large enough to act on. It is a replaceable part:
// the tree knows it only through this interface.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coding/box.hpp"
#include "inference/routing.hpp"

namespace treethink {

class ClusterStats;
class Codes;
struct Block;
struct Node;
struct NodeStats;

using Count = std::uint32_t;
using Counts = std::span<Count const>;

/// What was seen at a node.
struct Sample {
    Counts totals;                    // observations, by outcome
    std::uint64_t design_effect = 1;  // dependent observations that count as one (see ClusterStats)
    std::uint64_t outcomes = 0;       // that may come; 0: those in `totals`
};

class Criterion {
public:
    virtual ~Criterion() = default;

    // ---- every criterion: scores, and when a lead is large enough ----

    /// How well a test that held `trues` times explains the sample; larger is better. A test that
    /// never held scores like no test at all.
    [[nodiscard]] virtual double score(Counts trues, Sample const& sample) const = 0;
    /// The same for many tests at once: scores[i] for trues[outcome * stride + i].
    virtual void scores(Count const* trues, std::size_t stride, std::size_t tests, Sample const& sample,
                        std::vector<double>& scores) const = 0;
    /// Exact order of two scores, free of rounding: ties are ties.
    [[nodiscard]] virtual std::strong_ordering compare(Counts trues_a, Counts trues_b, Sample const& sample) const = 0;
    /// Scores that are closer than this must be compared exactly.
    [[nodiscard]] virtual double tie_margin(double score) const = 0;

    /// Whether a score is surely better than another after n observations. Monotone in both.
    [[nodiscard]] virtual bool surely_better(double score, double than, std::uint64_t n) const = 0;
    /// Whether a branch keeps its test, given the scores of the test and of no test.
    [[nodiscard]] virtual bool worth_keeping(double test, double no_test, std::uint64_t n) const = 0;
    /// Upper bound on what one observation adds to the score of any test.
    [[nodiscard]] virtual double max_gain() const = 0;
    /// What rounding may add to such a bound.
    [[nodiscard]] virtual double rounding_slack() const { return 1e-6; }

    // ---- optional: the defaults are the paper's ----

    /// What a challenger must be surely better than, given the counts of the test in place (all zero: no test) and
    /// its score less its description length.
    [[nodiscard]] virtual double threshold(Counts, Sample const&, double net_score) const { return net_score; }
    /// Description length of a candidate, in units of the score, which it reduces. By default tests are free.
    [[nodiscard]] virtual double description_length(Codes const&, Block const&, Code) const { return 0; }
    /// A lower bound of the description lengths of all candidates of a block.
    [[nodiscard]] virtual double min_description_length(Block const&) const { return 0; }
    /// Records a target for the design effect: `transition` is a stamp that targets of one transition share.
    virtual void count_cluster(ClusterStats&, std::uint64_t /*transition*/, std::uint32_t /*outcome*/,
                               std::size_t /*outcomes*/) const {}
    /// Whether it is time to check a node for a better test. Brings `stats` up to date for that check.
    [[nodiscard]] virtual bool is_check_due(NodeStats&) const { return true; }
    /// What the tests below a branch explain beyond its own test: lost if the branch changes its test.
    [[nodiscard]] virtual double explained_below(Codes const&, std::vector<Node> const&, NodeId) const { return 0; }
    /// Whether leaves that stay mixed are looked at again (looks/).
    [[nodiscard]] virtual bool looks_ahead() const { return false; }
    /// Finds the branches that need no check because everything below them is explained (Node::settled).
    virtual void update_settled(std::vector<Node>&) const {}
};

// Defined in wilson.cpp and evidence.cpp (evidence, proven).
std::unique_ptr<Criterion const> make_wilson(double alpha);
std::unique_ptr<Criterion const> make_evidence(double alpha);
std::unique_ptr<Criterion const> make_proven(double alpha);

/// The criterion of that name. "wilson" is the paper's: overlap of Wilson intervals around the expected
/// probability of the truth. Throws UnknownName, or SettingError for an alpha outside of (0, 1).
std::unique_ptr<Criterion const> make_criterion(std::string const& name, double alpha);
std::vector<std::string> criterion_names();

/// The z with 2 (1 - Phi(z)) = alpha; the same bits on every platform.
double two_sided_quantile(double alpha);

}  // namespace treethink
