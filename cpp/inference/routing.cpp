#include "inference/routing.hpp"

#include <numeric>

namespace treethink {

namespace {

std::strong_ordering compare_objects(State const& state, ClassId class_id, Row a, Row b) {
    for (AttributeId const attribute : state.schema()->classes()[class_id].attributes) {
        SlotId const slot = *state.schema()->find_slot(class_id, attribute);
        VectorView const x = state.value(slot, a), y = state.value(slot, b);
        auto const order = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
        if (order != 0) return order;
    }
    return a <=> b;  // rows are in order of id
}

}  // namespace

void keep_first_bindings(State const& state, std::vector<ClassId> const& classes, Bindings& bindings) {
    if (bindings.size() <= max_bindings) return;
    std::vector<std::uint32_t> order(bindings.size());
    std::iota(order.begin(), order.end(), 0u);
    auto before = [&](std::uint32_t a, std::uint32_t b) {
        for (std::size_t v = 0; v < bindings.width; ++v) {
            Row const x = bindings[a][v], y = bindings[b][v];
            if (x == y) continue;
            return compare_objects(state, classes[v], x, y) < 0;
        }
        return false;
    };
    auto const end = order.begin() + static_cast<std::ptrdiff_t>(max_bindings);
    std::partial_sort(order.begin(), end, order.end(), before);
    Bindings kept{bindings.width, {}};
    kept.rows.reserve(max_bindings * bindings.width);
    for (auto each = order.begin(); each != end; ++each)
        kept.rows.insert(kept.rows.end(), bindings[*each].begin(), bindings[*each].end());
    bindings = std::move(kept);
}

std::vector<ClassId> extended_classes(FactType const& type, Test const& test, std::vector<ClassId> const& classes) {
    std::vector<ClassId> extended = classes;
    for (std::size_t k = 0; k < type.arity; ++k)
        if (test.variables[k] >= classes.size()) extended.push_back(type.classes[k]);
    return extended;
}

std::size_t max_extensions(State const& state, FactType const& type, Test const& test, std::size_t variables) {
    auto rows = [&](std::size_t k) { return state.column(type.slots[k])->rows(); };
    auto equal = [&](std::size_t k) {
        return type.finds_objects() ? state.column(type.slots[k])->max_equal_rows() : rows(k);
    };
    bool const first_new = test.variables[0] >= variables;
    bool const second_new = type.arity == 2 && test.variables[1] >= variables;
    if (first_new && second_new) return std::min(rows(0) * equal(1), rows(1) * equal(0));
    if (first_new) return equal(0);
    return second_new ? equal(1) : 1;
}

}  // namespace treethink
