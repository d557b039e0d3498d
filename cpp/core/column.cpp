#include "core/column.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "core/hash.hpp"

namespace treethink {

Column::Column(std::size_t length, std::vector<Int> values)
    : length_(length), rows_(values.size() / length), values_(std::move(values)) {}

Column::~Column() { delete index_.load(std::memory_order_acquire); }

std::uint64_t Column::hash() const {
    auto known = hash_.load(std::memory_order_relaxed);
    if (known == no_hash) {
        // Two threads may both compute this: they store the same number.
        known = std::max(no_hash + 1, hash_of(values_, length_));
        hash_.store(known, std::memory_order_relaxed);
    }
    return known;
}

Column::Index const& Column::index() const {
    if (auto const* built = index_.load(std::memory_order_acquire)) return *built;
    auto mine = std::make_unique<Index const>(*this);
    Index const* expected = nullptr;
    if (index_.compare_exchange_strong(expected, mine.get(), std::memory_order_acq_rel)) return *mine.release();
    return *expected;  // another thread was first
}

Column::Index::Index(Column const& column) : order(column.rows()) {
    find_box(column);
    if (auto const cells = box_volume(4 * column.rows() + 64); cells != 0)
        sort_by_cell(column, cells);
    else
        sort_by_value(column);
}

void Column::Index::find_box(Column const& column) {
    auto const start = column.row(0);
    low.assign(start.begin(), start.end());
    high = low;
    for (std::size_t i = 1; i < column.rows(); ++i) {
        auto const value = column.row(i);
        for (std::size_t k = 0; k < value.size(); ++k) {
            low[k] = std::min(low[k], value[k]);
            high[k] = std::max(high[k], value[k]);
        }
    }
}

std::size_t Column::Index::box_volume(std::size_t limit) const {
    std::size_t volume = 1;
    for (std::size_t k = 0; k < low.size(); ++k) {
        // Values may span all of int64, so widths are unsigned and checked before use.
        auto const gap = static_cast<std::uint64_t>(high[k]) - static_cast<std::uint64_t>(low[k]);
        if (gap >= limit / volume) return 0;
        volume *= static_cast<std::size_t>(gap) + 1;
    }
    return volume;
}

std::size_t Column::Index::cell(VectorView value) const {
    std::size_t cell = 0;
    for (std::size_t k = 0; k < value.size(); ++k) {
        auto const width = static_cast<std::size_t>(high[k] - low[k]) + 1;
        cell = cell * width + static_cast<std::size_t>(value[k] - low[k]);
    }
    return cell;
}

void Column::Index::sort_by_cell(Column const& column, std::size_t cells) {
    first.assign(cells + 1, 0);
    std::vector<std::uint32_t> cell_of(column.rows());
    for (std::uint32_t i = 0; i < column.rows(); ++i) {
        cell_of[i] = static_cast<std::uint32_t>(cell(column.row(i)));
        max_equal = std::max<std::size_t>(max_equal, ++first[cell_of[i]]);
    }
    // first[c]: now the number of rows up to and including cell c; filling from the
    // last row back turns it into the start of c and keeps rows ascending.
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (auto i = static_cast<std::uint32_t>(column.rows()); i-- > 0;) order[--first[cell_of[i]]] = i;
}

void Column::Index::sort_by_value(Column const& column) {
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        auto const x = column.row(a), y = column.row(b);
        auto const sign = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
        return sign != 0 ? sign < 0 : a < b;
    });
    std::size_t run = 1;
    for (std::size_t i = 1; i < order.size(); ++i) {
        run = equal(column.row(order[i - 1]), column.row(order[i])) ? run + 1 : 1;
        max_equal = std::max(max_equal, run);
    }
}

std::span<std::uint32_t const> Column::Index::rows_with(Column const& column, VectorView value) const {
    for (std::size_t k = 0; k < value.size(); ++k)
        if (value[k] < low[k] || value[k] > high[k]) return {};
    if (!first.empty()) {
        auto const c = cell(value);
        return {order.data() + first[c], order.data() + first[c + 1]};
    }
    auto const less = [](VectorView x, VectorView y) {
        return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    };
    auto const from = std::lower_bound(order.begin(), order.end(), value,
                                       [&](std::uint32_t i, VectorView v) { return less(column.row(i), v); });
    auto const to = std::upper_bound(from, order.end(), value,
                                     [&](VectorView v, std::uint32_t i) { return less(v, column.row(i)); });
    return {from, to};
}

}  // namespace treethink
