// hash.hpp - hashes, the same on every platform, and a table of positions found by hash.
#pragma once

#include <algorithm>
#include <cstddef>
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

inline std::uint64_t hash_of(VectorView values, std::uint64_t seed) {
    for (Int const value : values) seed = combine(seed, static_cast<std::uint64_t>(value));
    return seed;
}

/// Positions in a list, found by hash (open addressing). Nothing is ever removed.
class HashIndex {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// The position for which `is_it(position)` holds, or none.
    template <class IsIt>
    [[nodiscard]] std::uint32_t find(std::uint32_t hash, IsIt&& is_it) const {
        if (slots_.empty()) return none;
        for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
            if (slots_[i].position == none) return none;
            if (slots_[i].hash == hash && is_it(slots_[i].position)) return slots_[i].position;
        }
    }
    void add(std::uint32_t hash, std::uint32_t position) {
        if (2 * ++used_ > slots_.size()) {
            std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
            old.swap(slots_);
            for (Slot const& each : old)
                if (each.position != none) put(each);
        }
        put({hash, position});
    }
    [[nodiscard]] std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }  // on the heap

private:
    struct Slot {
        std::uint32_t hash = 0, position = none;
    };
    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
    void put(Slot slot) {
        std::size_t i = slot.hash & mask();
        while (slots_[i].position != none) i = (i + 1) & mask();
        slots_[i] = slot;
    }

    std::vector<Slot> slots_;  // a power of two, at most half of them used
    std::size_t used_ = 0;
};

}  // namespace treethink
