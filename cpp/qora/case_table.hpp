// case_table.hpp - what QORA counts for each condition: which effect followed in which case.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "qora/conditions.hpp"

namespace treethink::qora {

/// Approximate memory that an allocation needs beside its content.
inline constexpr std::size_t allocation_bytes = 16;

/// Confidence interval of a success rate.
struct Interval {
    double low = 0, high = 1;
    [[nodiscard]] bool beats(Interval const& other) const { return low > other.high; }
};

/// Wilson score interval; [0, 1] without trials.
[[nodiscard]] inline Interval wilson_interval(std::uint64_t successes, std::uint64_t trials, double z) {
    if (trials == 0) return {};
    double const s = static_cast<double>(successes), n = static_cast<double>(trials);
    double const centre = (s + z * z / 2) / (n + z * z);
    double const radius = z / (n + z * z) * std::sqrt(s * (n - s) / n + z * z / 4);
    return {centre - radius, centre + radius};
}

/// How often each effect followed in each case (answer of a condition), cases ascending.
class CaseTable {
public:
    explicit CaseTable(bool wide = false) : wide_(wide ? std::make_unique<std::vector<WideKey>>() : nullptr) {}

    [[nodiscard]] bool wide() const { return wide_ != nullptr; }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] std::size_t cases() const { return rows_.size() / stride_; }
    [[nodiscard]] std::uint64_t key(std::size_t at) const { return rows_[at * stride_]; }
    [[nodiscard]] WideKey const& wide_key(std::size_t at) const { return (*wide_)[at]; }
    /// By effect; those beyond the end were never counted.
    [[nodiscard]] std::span<std::uint64_t const> counts(std::size_t at) const {
        return std::span(rows_).subspan(at * stride_ + 1, stride_ - 1);
    }
    [[nodiscard]] std::size_t bytes() const;

    /// Position of the first case that is not below `key`.
    [[nodiscard]] std::size_t lower_bound(std::uint64_t key) const;
    [[nodiscard]] std::size_t lower_bound(WideKey const& key) const;
    [[nodiscard]] bool has(std::size_t at, std::uint64_t key) const { return at < cases() && this->key(at) == key; }
    [[nodiscard]] bool has(std::size_t at, WideKey const& key) const { return at < cases() && (*wide_)[at] == key; }

    /// Counts `times` in the case with that key, which may be new.
    template <class Key>
    void add(Key const& key, std::size_t effect, std::uint64_t times = 1) {
        if (effect + 1 >= stride_) widen(effect + 2);
        std::size_t const at = lower_bound(key);
        if (!has(at, key)) insert(at, key);
        rows_[at * stride_ + 1 + effect] += times;
        total_ += times;
    }
    void reset();

    /// Expected number of correct predictions, rounded down, when each effect is predicted with its frequency in
    /// the case. The order of floating-point operations matters: it decides the rounding.
    [[nodiscard]] std::uint64_t successes() const;

private:
    void widen(std::size_t stride);
    void insert(std::size_t at, std::uint64_t key);
    void insert(std::size_t at, WideKey const& key);

    std::vector<std::uint64_t> rows_;             // by case: key (0 if wide), then counts by effect
    std::unique_ptr<std::vector<WideKey>> wide_;  // by case; null: keys are numbers
    std::size_t stride_ = 1;                      // numbers per case in rows_
    std::size_t wide_bytes_ = 0;                  // memory of wide keys
    std::uint64_t total_ = 0;
};

inline std::size_t CaseTable::lower_bound(std::uint64_t key) const {
    std::size_t at = 0;
    for (std::size_t left = cases(); left > 0;) {
        std::size_t const half = left / 2;
        if (this->key(at + half) < key) {
            at += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return at;
}

}  // namespace treethink::qora
