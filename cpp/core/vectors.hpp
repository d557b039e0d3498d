// vectors.hpp - vectors of 64-bit integers, and arithmetic on them that reports overflow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace treethink {

using Int = std::int64_t;
/// The value of an attribute, or a difference of two: a vector of integers.
using Vector = std::vector<Int>;
using VectorView = std::span<Int const>;
/// A longer vector is taken for a mistake, or for a damaged file.
inline constexpr std::size_t max_vector_length = 1'000'000;

/// Exact sum; false, leaving `out` alone, when it does not fit 64 bits.
[[nodiscard]] inline bool add(Int a, Int b, Int& out) {
    if (b > 0 ? a > std::numeric_limits<Int>::max() - b : a < std::numeric_limits<Int>::min() - b) return false;
    out = a + b;
    return true;
}
/// Exact difference a - b; false, leaving `out` alone, when it does not fit 64 bits.
[[nodiscard]] inline bool subtract(Int a, Int b, Int& out) {
    if (b < 0 ? a > std::numeric_limits<Int>::max() + b : a < std::numeric_limits<Int>::min() + b) return false;
    out = a - b;
    return true;
}

/// The absolute value.
[[nodiscard]] inline std::uint64_t magnitude(Int value) {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// A loop, because vectors are short: library functions for ranges are calls.
[[nodiscard]] inline bool same(VectorView a, VectorView b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) return false;
    return true;
}
/// Lexicographic order.
[[nodiscard]] inline bool less(VectorView a, VectorView b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

/// Working memory for one vector; short ones need no allocation.
class Buffer {
public:
    explicit Buffer(std::size_t length) : length_(length) {
        if (length > small_.size()) large_.resize(length);
    }
    [[nodiscard]] Int* data() { return large_.empty() ? small_.data() : large_.data(); }
    [[nodiscard]] VectorView view() { return {data(), length_}; }

private:
    std::size_t length_;
    std::array<Int, 8> small_{};
    std::vector<Int> large_;  // empty: the vector fits into small_
};

}  // namespace treethink
