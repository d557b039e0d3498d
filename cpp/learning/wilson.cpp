// wilson.cpp - the paper's criterion: one test is surely better than another if the Wilson intervals around their
// expected probabilities of the truth do not overlap.
#include <array>
#include <cmath>
#include <numbers>

#include "learning/criterion.hpp"

namespace treethink {

namespace {

// e^-x by basic operations only: the exp() of different libraries differ in the last bit.
double decay(double x) {
    int halvings = 0;
    for (; x > 0.5; ++halvings) x /= 2;
    double term = 1, sum = 1;
    for (int k = 1; k < 20; ++k) sum += term *= -x / k;
    for (; halvings > 0; --halvings) sum *= sum;
    return sum;
}

// 1 - Phi(z) for z >= 0: a series near the middle, Laplace's continued fraction in the tail.
double upper_tail(double z) {
    double const density = decay(z * z / 2) / std::sqrt(2 * std::numbers::pi);
    if (z < 3) {
        double term = z, sum = z;
        for (int k = 3; k < 120; k += 2) sum += term *= z * z / k;
        return 0.5 - density * sum;
    }
    double fraction = z;
    for (int k = 200; k > 0; --k) fraction = z + k / fraction;
    return density / fraction;
}

// An unsigned integer with enough bits for the products of counts in Wilson::compare.
class Wide {
public:
    explicit Wide(std::uint64_t value)
        : limbs_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {}

    Wide& operator*=(std::uint64_t factor) {
        Wide const self = *this;
        limbs_ = {};
        for (int half = 0; half < 2; ++half) {
            std::uint64_t const digit = half == 0 ? factor & 0xFFFFFFFFu : factor >> 32;
            std::uint64_t carry = 0;
            for (std::size_t i = 0; i + static_cast<std::size_t>(half) < limbs_.size(); ++i) {
                std::size_t const place = i + static_cast<std::size_t>(half);
                carry += digit * self.limbs_[i] + limbs_[place];
                limbs_[place] = static_cast<std::uint32_t>(carry);
                carry >>= 32;
            }
        }
        return *this;
    }
    Wide& operator+=(Wide const& other) {
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < limbs_.size(); ++i) {
            carry += std::uint64_t{limbs_[i]} + other.limbs_[i];
            limbs_[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        return *this;
    }
    [[nodiscard]] std::strong_ordering compare(Wide const& other) const {
        for (std::size_t i = limbs_.size(); i-- > 0;)
            if (limbs_[i] != other.limbs_[i]) return limbs_[i] <=> other.limbs_[i];
        return std::strong_ordering::equal;
    }

private:
    std::array<std::uint32_t, 8> limbs_{};  // least significant first
};

// The score N S of one test as exact whole numbers: squares_true / n_true + squares_false / n_false.
struct Parts {
    std::uint64_t squares_true = 0, squares_false = 0, n_true = 0, n_false = 0;

    Parts(Counts trues, Counts totals) {
        for (std::size_t y = 0; y < totals.size(); ++y) {
            std::uint64_t const t = trues[y], f = totals[y] - trues[y];
            squares_true += t * t;
            squares_false += f * f;
            n_true += t;
            n_false += f;
        }
    }
    [[nodiscard]] double score() const { return half(squares_true, n_true) + half(squares_false, n_false); }
    [[nodiscard]] Wide numerator() const {
        if (n_true == 0) return Wide(squares_false);
        if (n_false == 0) return Wide(squares_true);
        Wide sum(squares_true), second(squares_false);
        sum *= n_false;
        second *= n_true;
        return sum += second;
    }
    [[nodiscard]] std::uint64_t denominator() const {
        return (n_true == 0 ? 1 : n_true) * (n_false == 0 ? 1 : n_false);
    }
    static double half(std::uint64_t squares, std::uint64_t n) {
        return n == 0 ? 0.0 : static_cast<double>(squares) / static_cast<double>(n);
    }
};

class Wilson final : public Criterion {
public:
    explicit Wilson(double alpha) : z_(two_sided_quantile(alpha)) {}

    [[nodiscard]] double score(Counts trues, Sample const& sample) const override {
        return Parts(trues, sample.totals).score();
    }

    void scores(Count const* trues, std::size_t stride, std::size_t tests, Sample const& sample,
                std::vector<double>& scores) const override {
        // Sums of squares stay exact in a double as long as they are below 2^53; beyond that
        // rounding errors are far smaller than tie_margin().
        scores.assign(tests * 3, 0.0);
        double* const sum = scores.data();
        double* const squares_true = sum + tests;
        double* const squares_false = squares_true + tests;
        double n = 0;
        for (std::size_t y = 0; y < sample.totals.size(); ++y) {
            Count const* const row = trues + y * stride;
            double const total = sample.totals[y];
            n += total;
            for (std::size_t i = 0; i < tests; ++i) {
                double const t = row[i], f = total - t;
                sum[i] += t;
                squares_true[i] += t * t;
                squares_false[i] += f * f;
            }
        }
        for (std::size_t i = 0; i < tests; ++i) {
            double const t = sum[i], f = n - t;
            sum[i] = (t > 0 ? squares_true[i] / t : 0.0) + (f > 0 ? squares_false[i] / f : 0.0);
        }
        scores.resize(tests);
    }

    [[nodiscard]] std::strong_ordering compare(Counts trues_a, Counts trues_b, Sample const& sample) const override {
        Parts const a(trues_a, sample.totals), b(trues_b, sample.totals);
        Wide left = a.numerator(), right = b.numerator();
        left *= b.denominator();
        right *= a.denominator();
        return left.compare(right);
    }

    [[nodiscard]] bool surely_better(double score, double than, std::uint64_t n) const override {
        return lower(score, static_cast<double>(n)) > upper(than, static_cast<double>(n));
    }
    [[nodiscard]] bool worth_keeping(double test, double no_test, std::uint64_t n) const override {
        return surely_better(test, no_test, n);
    }
    /// Adding one observation moves N S by less than 1 whichever half it falls into.
    [[nodiscard]] double max_gain() const override { return 1.0; }
    /// Rounding errors are far smaller.
    [[nodiscard]] double tie_margin(double score) const override { return 1e-9 * score; }

private:
    // Ends of the interval, both scaled by 1 + z^2/n: that does not change any comparison.
    [[nodiscard]] double lower(double successes, double n) const { return successes / n - radius(successes / n, n); }
    [[nodiscard]] double upper(double successes, double n) const { return successes / n + radius(successes / n, n); }
    [[nodiscard]] double radius(double p, double n) const {
        double const variance = p < 1 ? p * (1 - p) / n : 0.0;
        return z_ * std::sqrt(variance + z_ * z_ / (4 * n * n));
    }

    double z_;
};

}  // namespace

double two_sided_quantile(double alpha) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; ++i) {
        double const middle = (low + high) / 2;
        (upper_tail(middle) > alpha / 2 ? low : high) = middle;
    }
    return low;
}

std::unique_ptr<Criterion const> make_wilson(double alpha) { return std::make_unique<Wilson>(alpha); }

}  // namespace treethink
