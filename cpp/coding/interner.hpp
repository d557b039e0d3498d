// interner.hpp - codes for vectors that fit no box.
#pragma once

#include <cstdint>
#include <vector>

#include "coding/box.hpp"

namespace treethink {

/// Numbers vectors in the order in which they are first seen.
class Interner {
public:
    explicit Interner(std::size_t length = 0) : length_(length) {}

    /// The code of a value, which gets the next one if it is new.
    Code intern(VectorView value);
    /// no_code: the value is not there.
    [[nodiscard]] Code find(VectorView value) const;
    [[nodiscard]] VectorView value(Code code) const { return {values_.data() + code * length_, length_}; }
    [[nodiscard]] Code size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const;

private:
    /// Position in table_ of a value, or of the free place where it would go.
    [[nodiscard]] std::size_t position_of(VectorView value) const;
    void grow();

    std::size_t length_;       // of each value
    Code size_ = 0;            // number of values
    std::vector<Int> values_;  // in order of their codes
    std::vector<Code> table_;  // hash table with open addressing; its size is a power of two; no_code: free
};

}  // namespace treethink
