// hash.hpp - hashes of states and their parts: the same on every platform.
#pragma once

#include <cstdint>
#include <vector>

#include "core/vectors.hpp"

namespace treethink {

/// One step of SplitMix64: every bit of the input affects every bit of the output.
constexpr std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

constexpr std::uint64_t combine(std::uint64_t seed, std::uint64_t next) { return scramble(seed ^ next); }

inline std::uint64_t hash_of(std::vector<Int> const& values, std::uint64_t seed) {
    for (Int const value : values) seed = combine(seed, static_cast<std::uint64_t>(value));
    return seed;
}

}  // namespace treethink
