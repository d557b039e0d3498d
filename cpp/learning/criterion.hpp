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

namespace treethink {

using Count = std::uint32_t;
using Counts = std::span<Count const>;

/// What was seen at a node: how often each outcome, and how many of those count as one (see Together).
struct Sample {
    Counts totals;
    std::uint64_t copies = 1;
};

class Criterion {
public:
    virtual ~Criterion() = default;

    /// How well a test that held `trues` times explains the sample; larger is better. A test that
    /// never held scores like no test at all.
    [[nodiscard]] virtual double score(Counts trues, Sample const& sample) const = 0;
    /// The same for many tests at once: scores[i] for trues[outcome * stride + i].
    virtual void scores(Count const* trues, std::size_t stride, std::size_t tests, Sample const& sample,
                        std::vector<double>& scores) const = 0;
    /// Exact order of two scores, free of rounding: ties are ties.
    [[nodiscard]] virtual std::strong_ordering compare(Counts trues_a, Counts trues_b, Sample const& sample) const = 0;

    /// Whether a score is surely better than another after n observations. Monotone in both.
    [[nodiscard]] virtual bool surely_better(double score, double than, std::uint64_t n) const = 0;
    /// Whether a branch keeps its test, given the scores of the test and of no test.
    [[nodiscard]] virtual bool worth_keeping(double test, double none, std::uint64_t n) const = 0;
    /// The most that one observation can add to any test's score.
    [[nodiscard]] virtual double largest_gain() const = 0;

    /// What rounding may add to that, so that a bound remains one.
    [[nodiscard]] virtual double slack() const { return 1e-6; }

    /// What a challenger must be surely better than: the test that is in place, or none. `worth` is its score
    /// less its price.
    [[nodiscard]] virtual double to_beat(Counts, Sample const&, double worth) const { return worth; }
    /// Scores that are closer than this must be compared exactly.
    [[nodiscard]] virtual double margin(double score) const = 0;
    /// Whether scores are evidence, in units of a Log. Tests then pay for their length, targets that share their
    /// fate count once, and a branch is left alone while everything below it is explained.
    [[nodiscard]] virtual bool weighs_evidence() const { return false; }
};

// Each in a file of its own.
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
