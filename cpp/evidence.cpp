// evidence.cpp - how much better the counts are explained when a test splits them.
//
// A test is scored by the logarithm of the probability that it gives to the outcomes: those
// where it held and those where it failed each come from a distribution of their own, unknown
// and averaged over. That one forecast is half of two: one that expects always the same
// outcome, as most rules have it, and one that expects anything (the prior is Jeffreys's).
//
// docs/evidence.md has the reasoning, and what is guaranteed.
#include <algorithm>

#include "criterion.hpp"
#include "logs.hpp"

namespace treethink {

namespace {

/// How many of the outcomes were seen at all.
std::uint64_t kinds_of(Counts totals) {
    return static_cast<std::uint64_t>(std::count_if(totals.begin(), totals.end(), [](Count n) { return n > 0; }));
}

class Evidence : public Criterion {
public:
    explicit Evidence(double alpha) : needed_(static_cast<double>(log_of(1 / alpha))) {}

    [[nodiscard]] double score(Counts trues, Counts totals) const override {
        Forecast const forecast(totals);
        return static_cast<double>(forecast.log([&](std::size_t y) { return trues[y]; }) +
                                   forecast.log([&](std::size_t y) { return totals[y] - trues[y]; }));
    }
    void scores(Count const* trues, std::size_t stride, std::size_t tests, Counts totals,
                std::vector<double>& scores) const override {
        Forecast const forecast(totals);
        scores.resize(tests);
        for (std::size_t i = 0; i < tests; ++i)
            scores[i] = static_cast<double>(
                forecast.log([&](std::size_t y) { return trues[y * stride + i]; }) +
                forecast.log([&](std::size_t y) { return totals[y] - trues[y * stride + i]; }));
    }
    /// Scores are whole numbers already.
    [[nodiscard]] std::strong_ordering compare(Counts trues_a, Counts trues_b, Counts totals) const override {
        double const a = score(trues_a, totals), b = score(trues_b, totals);
        return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
    }
    [[nodiscard]] double margin(double) const override { return 0; }

    [[nodiscard]] bool surely_better(double score, double than, std::uint64_t) const override {
        return score - than > needed_;
    }
    [[nodiscard]] bool worth_keeping(double test, double none, std::uint64_t) const override { return test >= none; }
    /// The probability of more outcomes is never larger than that of fewer.
    [[nodiscard]] double largest_gain() const override { return 0; }
    /// Beyond its tables, log_step_product() rounds sums instead of terms: a unit for each half.
    [[nodiscard]] double slack() const override { return 4; }
    [[nodiscard]] double price_of_length() const override { return 1; }

private:
    // The probability of a sequence of outcomes, foretold one after the other.
    class Forecast {
    public:
        explicit Forecast(Counts totals)
            : outcomes_(totals.size()), kinds_(kinds_of(totals)), half_(log_of(2)),
              always_(-half_ - log_of(static_cast<double>(std::max<std::uint64_t>(kinds_, 1)))) {}

        template <class CountOf>
        [[nodiscard]] Log log(CountOf const& count_of) const {
            Log anything = -half_;
            std::uint64_t n = 0, present = 0;
            for (std::size_t y = 0; y < outcomes_; ++y) {
                std::uint64_t const count = count_of(y);
                if (count == 0) continue;
                anything += log_odd_product(count);
                n += count;
                ++present;
            }
            if (n == 0) return 0;
            anything -= log_step_product(kinds_, n);
            return present == 1 ? std::max(anything, always_) : anything;
        }

    private:
        std::size_t outcomes_;
        std::uint64_t kinds_;
        Log half_, always_;
    };

    double needed_;
};

/// The same against the best that anyone could say in hindsight with the test that is in place.
///
/// Nobody knows how many outcomes there are: a forecast for K of them has a share of 1 / (K (K - 1)).
/// And the first time that an outcome is seen is no surprise to those who could not know of it.
class Proven final : public Evidence {
public:
    using Evidence::Evidence;

    [[nodiscard]] double to_beat(Counts trues, Counts totals, double) const override {
        auto const kinds = static_cast<double>(kinds_of(totals));
        Log const share = kinds < 2 ? 0 : log_of(kinds) + log_of(kinds - 1);
        return static_cast<double>(share + hindsight([&](std::size_t y) { return trues[y]; }, totals.size()) +
                                   hindsight([&](std::size_t y) { return totals[y] - trues[y]; }, totals.size()));
    }

private:
    template <class CountOf>
    static Log hindsight(CountOf const& count_of, std::size_t outcomes) {
        Log log = 0;
        std::uint64_t n = 0;
        for (std::size_t y = 0; y < outcomes; ++y) {
            std::uint64_t const again = count_of(y) > 0 ? count_of(y) - 1 : 0;
            log += log_power(again);
            n += again;
        }
        return log - log_power(n);
    }
};

}  // namespace

std::unique_ptr<Criterion const> make_evidence(double alpha) { return std::make_unique<Evidence>(alpha); }
std::unique_ptr<Criterion const> make_proven(double alpha) { return std::make_unique<Proven>(alpha); }

}  // namespace treethink
