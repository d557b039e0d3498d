#include "logs.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace treethink {

namespace {

constexpr std::uint64_t table_size = 1 << 16;

Log rounded(double nats) { return static_cast<Log>(std::floor(nats * static_cast<double>(nat) + 0.5)); }

// ln(2^n Gamma(n + h)), but for a constant; n is large. Stirling's series.
double log_product(double n, double h) {
    double const x = n + h, inverse = 1 / x;
    return n * std::numbers::ln2 + (x - 0.5) * natural_log(x) - x + inverse / 12 - inverse * inverse * inverse / 360;
}

struct Tables {
    // Products of the first n odd numbers, of the first n even ones, and n to the power of n.
    std::vector<Log> odd, even, power;

    Tables() : odd(table_size + 1), even(table_size + 1), power(table_size + 1) {
        for (std::uint64_t n = 1; n <= table_size; ++n) {
            odd[n] = odd[n - 1] + log_of(static_cast<double>(2 * n - 1));
            even[n] = even[n - 1] + log_of(static_cast<double>(2 * n));
            power[n] = rounded(static_cast<double>(n) * natural_log(static_cast<double>(n)));
        }
    }
    // Beyond the table: from its end by a formula.
    static Log beyond(std::vector<Log> const& table, std::uint64_t n, double h) {
        if (n <= table_size) return table[n];
        double const end = log_product(static_cast<double>(table_size), h);
        return table[table_size] + rounded(log_product(static_cast<double>(n), h) - end);
    }
};

Tables const& tables() {
    static Tables const all;
    return all;
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

Log log_odd_product(std::uint64_t n) { return Tables::beyond(tables().odd, n, 0.5); }

Log log_step_product(std::uint64_t k, std::uint64_t n) {
    auto const& table = k % 2 == 1 ? tables().odd : tables().even;
    double const h = k % 2 == 1 ? 0.5 : 1.0;
    std::uint64_t const before = (k - 1) / 2;  // factors below k
    return Tables::beyond(table, before + n, h) - Tables::beyond(table, before, h);
}

Log log_power(std::uint64_t n) {
    if (n <= table_size) return tables().power[n];
    return rounded(static_cast<double>(n) * natural_log(static_cast<double>(n)));
}

}  // namespace treethink
