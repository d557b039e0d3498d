// interner.hpp - codes for vectors that fit no box.
#pragma once

#include <cstdint>
#include <vector>

#include "coding/box.hpp"

namespace treethink {

/// Numbers vectors in the order in which they are met.
class Interner {
public:
    explicit Interner(std::size_t length = 0) : length_(length) {}

    Code intern(VectorView value);
    [[nodiscard]] Code find(VectorView value) const;
    [[nodiscard]] VectorView value(Code code) const { return {values_.data() + code * length_, length_}; }
    [[nodiscard]] Code size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const;

private:
    [[nodiscard]] std::size_t slot(VectorView value) const;
    void grow();

    std::size_t length_;
    Code size_ = 0;
    std::vector<Int> values_;
    std::vector<Code> table_;  // open addressing; a power of two
};

}  // namespace treethink
