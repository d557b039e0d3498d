// coded_column.hpp - one column of the current state, with the codes of its values.
#pragma once

#include <cstdint>
#include <vector>

#include "coding/box.hpp"
#include "core/state.hpp"

namespace treethink {

struct CodedColumn {
    State::ColumnPtr column;
    std::vector<Code> codes;             // by row: code of its value in the unit's box; used only while that is dense
    bool distinct = false;               // no two rows share a value; known only while the box is dense
    std::vector<Code> values;            // where some do: their codes, each once
    std::vector<std::uint32_t> rows_of;  // by place in `values`: how many rows have it
    bool in_facts = false;               // some fact type is about this column
    bool in_pair_facts = false;          // some fact type with two terms is
    std::uint64_t version = 0;           // changes whenever the values change
    std::uint64_t changed_in = 0;        // step (see Codes) in which they changed last
    std::uint64_t mean_gap = 0;          // steps between changes: a moving average

    [[nodiscard]] std::size_t rows() const { return column->rows(); }
};

}  // namespace treethink
