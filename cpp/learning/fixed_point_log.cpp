#include "learning/fixed_point_log.hpp"

#include <cmath>
#include <numbers>

namespace treethink {

namespace {

Log rounded(double nats) { return static_cast<Log>(std::floor(nats * static_cast<double>(units_per_nat) + 0.5)); }

// ln(2^n Gamma(n + h)) up to a constant, by Stirling's series; n is large.
double log_product(double n, double h) {
    double const x = n + h, inverse = 1 / x;
    return n * std::numbers::ln2 + (x - 0.5) * natural_log(x) - x + inverse / 12 - inverse * inverse * inverse / 360;
}

}  // namespace

double natural_log(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent);
    if (m < 1 / std::numbers::sqrt2) {
        m *= 2;
        --exponent;
    }
    // ln m = 2 artanh s; |s| < 0.172, so that these terms are enough.
    double const s = (m - 1) / (m + 1);
    double sum = 0;
    for (int k = 25; k > 0; k -= 2) sum = sum * (s * s) + 1.0 / k;
    return 2 * s * sum + exponent * std::numbers::ln2;
}

Log log_of(double x) { return rounded(natural_log(x)); }
Log log_of_inverse(double x) { return rounded(-natural_log(x)); }

LogTables const& LogTables::get() {
    // Never destroyed: a daemon thread may still learn while the process exits.
    static LogTables const& tables = *new LogTables;
    return tables;
}

LogTables::LogTables() : numbers_(size + 1), odd_(size + 1), even_(size + 1), power_(size + 1) {
    for (std::uint64_t n = 1; n <= size; ++n) {
        numbers_[n] = log_of(static_cast<double>(n));
        odd_[n] = odd_[n - 1] + log_of(static_cast<double>(2 * n - 1));
        even_[n] = even_[n - 1] + log_of(static_cast<double>(2 * n));
        power_[n] = rounded(static_cast<double>(n) * natural_log(static_cast<double>(n)));
    }
}

// Continues a table beyond its end by Stirling's series.
Log LogTables::beyond(std::vector<Log> const& table, std::uint64_t n, double h) {
    double const end = log_product(static_cast<double>(size), h);
    return table[size] + rounded(log_product(static_cast<double>(n), h) - end);
}

Log LogTables::power(std::uint64_t n) const {
    return n <= size ? power_[n] : rounded(static_cast<double>(n) * natural_log(static_cast<double>(n)));
}

}  // namespace treethink
