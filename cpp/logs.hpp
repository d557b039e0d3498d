// logs.hpp - logarithms in fixed point: the same on every platform, and sums free of order.
//
// Libraries' log() and lgamma() differ in the last bit, and sums of doubles depend on their
// order. So logarithms are rounded to whole units here, by code of our own, and everything
// after that is integer arithmetic: equal counts give equal evidence, and ties are ties.
#pragma once

#include <cstdint>

namespace treethink {

/// A logarithm, in units of 1 / `nat` nats.
using Log = std::int64_t;
inline constexpr Log nat = 65536;

/// ln x for x > 0, by basic operations only.
[[nodiscard]] double natural_log(double x);
/// The same, rounded. Monotone.
[[nodiscard]] Log log_of(double x);

/// ln(1 * 3 * 5 * ... ), n factors.
[[nodiscard]] Log log_odd_product(std::uint64_t n);
/// ln(k * (k + 2) * (k + 4) * ...), n factors; k >= 1.
[[nodiscard]] Log log_step_product(std::uint64_t k, std::uint64_t n);
/// n ln n, and 0 for n = 0.
[[nodiscard]] Log log_power(std::uint64_t n);

}  // namespace treethink
