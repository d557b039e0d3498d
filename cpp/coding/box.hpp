// box.hpp - arithmetic codes for vectors that lie in a small box.
#pragma once

#include <cstdint>
#include <vector>

#include "core/facts.hpp"

namespace treethink {

/// A small number that stands for the value of a fact.
using Code = std::uint32_t;
inline constexpr Code no_code = ~Code{0};

/// The box of all values of a unit (see Schema::unit), and the arithmetic code of each value in it.
class Box {
public:
    Box() = default;

    /// Whether no value was ever put into it.
    [[nodiscard]] bool empty() const { return empty_; }
    /// Whether codes are arithmetic. If not (yet, or any more), only grown() may be called.
    [[nodiscard]] bool dense() const { return dense_; }
    [[nodiscard]] bool contains(VectorView value) const;
    /// 0 <= code < width(); ordered as the values are. The value must be in the box.
    [[nodiscard]] Code code(VectorView value) const;
    [[nodiscard]] Code width() const { return width_; }
    /// Code of y - x is code(y) - code(x) + centre(), below table_size().
    [[nodiscard]] Code centre() const { return width_ - 1; }
    [[nodiscard]] Code table_size() const { return 2 * width_ - 1; }
    void read_value(Code code, Vector& value) const;
    [[nodiscard]] Vector difference(Code code) const {
        Vector difference;
        read_difference(code, difference);
        return difference;
    }
    void read_difference(Code code, Vector& value) const;
    /// Code of a value or difference that may lie outside: then no_code.
    [[nodiscard]] Code find(VectorView value) const { return contains(value) ? code(value) : no_code; }
    [[nodiscard]] Code find_difference(VectorView value) const;

    /// The smallest box around this one and `low`..`high`; with slack where this one had to grow.
    /// It is not dense when its table would be too large for `values` values.
    [[nodiscard]] Box grown(VectorView low, VectorView high, std::size_t values) const;
    /// The smallest box around this one and a value. It is not dense.
    [[nodiscard]] Box stretched(VectorView value) const;
    /// Stretched until some two values in it have this difference, or its negation. No component is the least Int. It
    /// is not dense.
    [[nodiscard]] Box widened(VectorView difference) const;

    /// A box for these bounds, dense if its table is not too large.
    [[nodiscard]] static Box around(VectorView low, VectorView high, std::uint64_t max_table);

private:
    [[nodiscard]] static Box with_bounds(VectorView low, VectorView high);
    /// Makes the box dense unless its table would be larger than `max_table`.
    void set_strides(std::uint64_t max_table);

    bool dense_ = false;
    bool empty_ = true;
    Vector low_, high_;        // smallest and largest value, by coordinate
    std::vector<Int> stride_;  // by coordinate; the first is most significant, so that codes sort like values
    Code width_ = 0;           // number of codes of values
};

}  // namespace treethink
