#include "coding/box.hpp"

#include <algorithm>

namespace treethink {

namespace {

// A table of this many facts is always affordable; one of up to the larger number only when there
// are enough values to fill a good part of it.
constexpr std::uint64_t small_table = 1u << 13;
constexpr std::uint64_t large_table = 1u << 17;

std::uint64_t extent(Int low, Int high) { return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low); }

}  // namespace

bool Box::contains(VectorView value) const {
    for (std::size_t d = 0; d < value.size(); ++d)
        if (value[d] < low_[d] || value[d] > high_[d]) return false;
    return true;
}

Code Box::code(VectorView value) const {
    Int code = 0;
    for (std::size_t d = 0; d < value.size(); ++d) code += (value[d] - low_[d]) * stride_[d];
    return static_cast<Code>(code);
}

void Box::read_value(Code code, Vector& value) const {
    value.resize(low_.size());
    Int rest = static_cast<Int>(code);
    for (std::size_t d = 0; d < value.size(); ++d) {
        value[d] = rest / stride_[d] + low_[d];
        rest %= stride_[d];
    }
}

void Box::read_difference(Code code, Vector& value) const {
    // Adding the largest difference in every coordinate makes all digits non-negative.
    Int rest = static_cast<Int>(code) - static_cast<Int>(centre());
    for (std::size_t d = 0; d < low_.size(); ++d) rest += (high_[d] - low_[d]) * stride_[d];
    value.resize(low_.size());
    for (std::size_t d = 0; d < value.size(); ++d) {
        value[d] = rest / stride_[d] - (high_[d] - low_[d]);
        rest %= stride_[d];
    }
}

Code Box::find_difference(VectorView value) const {
    Int code = static_cast<Int>(centre());
    for (std::size_t d = 0; d < value.size(); ++d) {
        Int const most = high_[d] - low_[d];
        if (value[d] < -most || value[d] > most) return no_code;
        code += value[d] * stride_[d];
    }
    return static_cast<Code>(code);
}

Box Box::with_bounds(VectorView low, VectorView high) {
    Box box;
    box.empty_ = false;
    box.low_.assign(low.begin(), low.end());
    box.high_.assign(high.begin(), high.end());
    return box;
}

Box Box::grown(VectorView low, VectorView high, std::size_t values) const {
    Box box = with_bounds(low, high);
    for (std::size_t d = 0; d < low.size() && !empty_; ++d) {
        // Slack on the side that had to give way, so that a drifting value recodes rarely.
        auto const slack = static_cast<Int>(std::min<std::uint64_t>(extent(low_[d], high_[d]) / 4, large_table));
        Int moved = 0;
        if (low[d] < low_[d])
            box.low_[d] = subtract(low[d], slack, moved) ? moved : low[d];
        else
            box.low_[d] = low_[d];
        if (high[d] > high_[d])
            box.high_[d] = add(high[d], slack, moved) ? moved : high[d];
        else
            box.high_[d] = high_[d];
    }
    box.set_strides(16 * values >= large_table ? large_table : std::max<std::uint64_t>(small_table, 16 * values));
    return box;
}

Box Box::around(VectorView low, VectorView high, std::uint64_t max_table) {
    Box box = with_bounds(low, high);
    box.set_strides(max_table);
    return box;
}

void Box::set_strides(std::uint64_t max_table) {
    stride_.assign(low_.size(), 1);
    std::uint64_t table = 1;
    for (std::size_t d = low_.size(); d-- > 0;) {
        stride_[d] = static_cast<Int>(table);
        std::uint64_t const side = extent(low_[d], high_[d]);
        if (side >= max_table) return;
        table *= 2 * side + 1;
        if (table > max_table) return;
    }
    dense_ = true;
    width_ = static_cast<Code>((table + 1) / 2);
}

Box Box::stretched(VectorView value) const {
    Box box = with_bounds(value, value);
    for (std::size_t d = 0; d < value.size() && !empty_; ++d) {
        box.low_[d] = std::min(box.low_[d], low_[d]);
        box.high_[d] = std::max(box.high_[d], high_[d]);
    }
    return box;
}

Box Box::widened(VectorView difference) const {
    Vector low = empty_ ? Vector(difference.size(), 0) : low_;
    Vector high = empty_ ? low : high_;
    for (std::size_t d = 0; d < low.size(); ++d) {
        Int const size = difference[d] < 0 ? -difference[d] : difference[d];
        if (extent(low[d], high[d]) >= static_cast<std::uint64_t>(size)) continue;
        Int moved = 0;
        if (add(low[d], size, moved))
            high[d] = moved;
        else
            low[d] = high[d] - size;  // low is above 0, so this fits
    }
    return with_bounds(low, high);
}

}  // namespace treethink
