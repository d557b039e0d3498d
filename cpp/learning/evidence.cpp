// evidence.cpp - how much better the counts are explained when a test splits them.
//
// A test is scored by the logarithm of the probability that it gives to the outcomes: those
// where it held and those where it failed each come from a distribution of their own, unknown
// and averaged over. Each half either has always the same outcome, as most rules have it, or
// may have any (the prior is Jeffreys's).
//
// docs/evidence.md has the reasoning, and what is guaranteed.
#include <algorithm>

#include "learning/criterion.hpp"
#include "learning/logs.hpp"

namespace treethink {

namespace {

/// How many of the outcomes were seen at all.
std::uint64_t kinds_of(Counts totals) {
    return static_cast<std::uint64_t>(std::count_if(totals.begin(), totals.end(), [](Count n) { return n > 0; }));
}

/// How much of a count is its own. Rounded up: what was seen was seen.
std::uint64_t without_copies(std::uint64_t count, std::uint64_t copies) {
    return copies == 1 ? count : (count + copies - 1) / copies;
}

class Evidence : public Criterion {
public:
    explicit Evidence(double alpha) : needed_(static_cast<double>(log_of_inverse(alpha))) {}

    [[nodiscard]] double score(Counts trues, Sample const& sample) const override {
        return static_cast<double>(Forecast(sample)([&](std::size_t y) { return trues[y]; }));
    }
    void scores(Count const* trues, std::size_t stride, std::size_t tests, Sample const& sample,
                std::vector<double>& scores) const override {
        Forecast const forecast(sample);
        scores.resize(tests);
        for (std::size_t i = 0; i < tests; ++i)
            scores[i] = static_cast<double>(forecast([&](std::size_t y) { return trues[y * stride + i]; }));
    }
    /// Scores are whole numbers already.
    [[nodiscard]] std::strong_ordering compare(Counts trues_a, Counts trues_b, Sample const& sample) const override {
        double const a = score(trues_a, sample), b = score(trues_b, sample);
        return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
    }
    [[nodiscard]] double margin(double) const override { return 0; }

    [[nodiscard]] bool surely_better(double score, double than, std::uint64_t) const override {
        return score - than > needed_;
    }
    [[nodiscard]] bool worth_keeping(double test, double none, std::uint64_t) const override { return test >= none; }
    /// The probability of more outcomes is never larger than that of fewer.
    [[nodiscard]] double largest_gain() const override { return 0; }
    /// Beyond its tables, step_product() rounds sums instead of terms, and doubles have 53 bits.
    [[nodiscard]] double slack() const override { return 64; }
    [[nodiscard]] bool weighs_evidence() const override { return true; }

private:
    // The probability of a sequence of outcomes, foretold one after the other.
    class Forecast {
    public:
        explicit Forecast(Sample const& sample)
            : sample_(sample), kinds_(kinds_of(sample.totals)),
              which_(logs_.number(std::max<std::uint64_t>(kinds_, 1))), half_(logs_.number(2)),
              sixth_(logs_.number(6)) {}

        /// With a test that held so often. One that always or never held says nothing.
        template <class TruesOf>
        [[nodiscard]] Log operator()(TruesOf const& trues_of) const {
            Half const held = half(trues_of);
            Half const failed = half([&](std::size_t y) { return sample_.totals[y] - trues_of(y); });
            return held.kinds > 0 && failed.kinds > 0 ? split(held, failed) : unsplit(held.kinds > 0 ? held : failed);
        }

    private:
        struct Half {
            Log any;  // if any outcome may come
            std::uint64_t kinds = 0;
        };

        template <class CountOf>
        [[nodiscard]] Half half(CountOf const& count_of) const {
            Half half{0, 0};
            std::uint64_t n = 0;
            for (std::size_t y = 0; y < sample_.totals.size(); ++y) {
                std::uint64_t const count = without_copies(count_of(y), sample_.copies);
                if (count == 0) continue;
                half.any += logs_.odd_product(count);
                n += count;
                ++half.kinds;
            }
            if (n > 0) half.any -= logs_.step_product(kinds_, n);
            return half;
        }
        [[nodiscard]] Log unsplit(Half const& all) const {
            return std::max(all.any, all.kinds == 1 ? -which_ : all.any) - half_;
        }
        // A half for both being sure, each of another outcome; a sixth for one, the other, or neither.
        [[nodiscard]] Log split(Half const& held, Half const& failed) const {
            Log const sure_held = held.kinds == 1 ? -which_ : held.any;
            Log const sure_failed = failed.kinds == 1 ? -which_ : failed.any;
            Log const mixed =
                std::max({held.any + failed.any, sure_held + failed.any, held.any + sure_failed}) - sixth_;
            bool const both_sure = held.kinds == 1 && failed.kinds == 1 && kinds_ == 2;
            return both_sure ? std::max(mixed, -which_ - half_) : mixed;
        }

        LogTables const& logs_ = LogTables::get();
        Sample sample_;
        std::uint64_t kinds_;
        Log which_, half_, sixth_;
    };

    double needed_;
};

/// The same against the best that anyone could say in hindsight with the test that is in place.
///
/// Nobody knows which outcomes there are, or how many: what counts is the pattern, which earlier outcome came
/// again. The first time of each is no surprise to those who could not know of it, and costs nothing here. A
/// forecast for K outcomes has a share of 1 / (K (K - 1)), and K! ways to name them: together (K - 2)!.
class Proven final : public Evidence {
public:
    using Evidence::Evidence;

    [[nodiscard]] double to_beat(Counts trues, Sample const& sample, double) const override {
        Log const held = hindsight(trues, sample, true), failed = hindsight(trues, sample, false);
        return static_cast<double>(held + failed - ways(kinds_of(sample.totals)));
    }

private:
    // Of one half. The first of each outcome comes for nothing.
    static Log hindsight(Counts trues, Sample const& sample, bool held) {
        LogTables const& logs = LogTables::get();
        Log log = 0;
        std::uint64_t n = 0;
        for (std::size_t y = 0; y < trues.size(); ++y) {
            std::uint64_t const count = without_copies(held ? trues[y] : sample.totals[y] - trues[y], sample.copies);
            std::uint64_t const again = count > 0 ? count - 1 : 0;
            log += logs.power(again);
            n += again;
        }
        return log - logs.power(n);
    }
    // ln (kinds - 2)!
    static Log ways(std::uint64_t kinds) {
        Log log = 0;
        for (std::uint64_t k = 2; k + 2 <= kinds; ++k) log += LogTables::get().number(k);
        return log;
    }
};

}  // namespace

std::unique_ptr<Criterion const> make_evidence(double alpha) { return std::make_unique<Evidence>(alpha); }
std::unique_ptr<Criterion const> make_proven(double alpha) { return std::make_unique<Proven>(alpha); }

}  // namespace treethink
