// column.hpp - one attribute of all objects of one class.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectors.hpp"

namespace treethink {

/// One attribute of all objects of one class, row by row. Immutable and shared.
class Column {
public:
    Column(std::size_t length, std::vector<Int> values);
    ~Column();
    Column(Column const&) = delete;
    Column& operator=(Column const&) = delete;

    /// Number of objects.
    [[nodiscard]] std::size_t rows() const { return rows_; }
    /// Number of integers in each value.
    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] VectorView row(std::size_t i) const { return {values_.data() + i * length_, length_}; }
    /// The values of all rows, one after the other.
    [[nodiscard]] std::vector<Int> const& values() const { return values_; }
    /// Depends on the values and their rows; computed once.
    [[nodiscard]] std::uint64_t hash() const;
    bool operator==(Column const& other) const { return length_ == other.length_ && values_ == other.values_; }

    /// Calls visit(row) for every row that holds `value`, ascending, until one returns false.
    ///
    /// Small columns are searched; large ones build an index at first use (safe from
    /// several threads) that makes this a look-up.
    template <class Visit>
    void for_each_row_with(VectorView value, Visit&& visit) const {
        if (rows_ <= max_rows_without_index) {
            for (std::uint32_t i = 0; i < rows_; ++i)
                if (equal(row(i), value) && !visit(i)) return;
        } else {
            for (std::uint32_t const i : index().rows_with(*this, value))
                if (!visit(i)) return;
        }
    }
    /// Upper bound of the number of rows that share one value. Exact for columns with an index.
    [[nodiscard]] std::size_t max_equal_rows() const {
        return rows_ <= max_rows_without_index ? rows_ : index().max_equal;
    }

private:
    static constexpr std::size_t max_rows_without_index = 6;
    static constexpr std::uint64_t no_hash = 0;

    // Rows sorted by value (ties by row), with a table over the values' bounding box
    // when that box is not much larger than the column.
    struct Index {
        std::vector<std::uint32_t> order;  // rows, sorted
        std::vector<std::uint32_t> first;  // by cell of the box: its first place in `order`; empty: binary search
        std::vector<Int> low, high;        // the bounding box
        std::size_t max_equal = 1;         // most rows that share one value

        explicit Index(Column const& column);
        [[nodiscard]] std::span<std::uint32_t const> rows_with(Column const& column, VectorView value) const;

    private:
        void find_box(Column const& column);
        /// Number of cells of the box, or 0 when there are more than `limit`.
        [[nodiscard]] std::size_t box_volume(std::size_t limit) const;
        [[nodiscard]] std::size_t cell(VectorView value) const;
        void sort_by_cell(Column const& column, std::size_t cells);
        void sort_by_value(Column const& column);
    };
    // Of equally long vectors.
    static bool equal(VectorView a, VectorView b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] != b[i]) return false;
        return true;
    }
    [[nodiscard]] Index const& index() const;

    std::size_t length_;
    std::size_t rows_;
    std::vector<Int> values_;
    mutable std::atomic<std::uint64_t> hash_{no_hash};
    mutable std::atomic<Index const*> index_{nullptr};  // built once, owned
};

}  // namespace treethink
