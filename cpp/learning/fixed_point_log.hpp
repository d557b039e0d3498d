// fixed_point_log.hpp - logarithms in fixed point: the same on every platform, and sums free of order.
//
// The log() and lgamma() of different libraries differ in the last bit, and sums of doubles depend on
// their order. So logarithms are computed here and rounded to whole units, and everything after that is
// integer arithmetic: equal counts give equal scores, and ties are exact.
#pragma once

#include <cstdint>
#include <vector>

namespace treethink {

/// A logarithm, in units of 1 / `units_per_nat` nats.
using Log = std::int64_t;
inline constexpr Log units_per_nat = 65536;

/// ln x for x > 0, by basic operations only.
[[nodiscard]] double natural_log(double x);
/// ln x, rounded to whole units. Monotone.
[[nodiscard]] Log log_of(double x);
/// ln(1 / x), rounded to whole units; also where 1 / x would be infinite.
[[nodiscard]] Log log_of_inverse(double x);

/// Logarithms of whole numbers and of products of them: tables, and formulas beyond their end.
class LogTables {
public:
    static LogTables const& get();

    /// ln n; n >= 1.
    [[nodiscard]] Log number(std::uint64_t n) const { return n <= size ? numbers_[n] : log_of(static_cast<double>(n)); }
    /// ln(1 * 3 * 5 * ...), n factors.
    [[nodiscard]] Log odd_product(std::uint64_t n) const { return n <= size ? odd_[n] : beyond(odd_, n, 0.5); }
    /// ln(k * (k + 2) * (k + 4) * ...), n factors; k >= 1.
    [[nodiscard]] Log step_product(std::uint64_t k, std::uint64_t n) const {
        std::uint64_t const before = (k - 1) / 2;  // factors below k
        if (k % 2 == 1) return odd_product(before + n) - odd_product(before);
        return even_product(before + n) - even_product(before);
    }
    /// n ln n, and 0 for n = 0.
    [[nodiscard]] Log power(std::uint64_t n) const;

private:
    static constexpr std::uint64_t size = 1 << 16;

    LogTables();
    [[nodiscard]] Log even_product(std::uint64_t n) const { return n <= size ? even_[n] : beyond(even_, n, 1.0); }
    [[nodiscard]] static Log beyond(std::vector<Log> const& table, std::uint64_t n, double h);

    std::vector<Log> numbers_, odd_, even_, power_;
};

}  // namespace treethink
