// routing.hpp - which objects a node's variables stand for, and how a test extends that.
//
// The meaning of a tree is set narrowing: keep every binding; at a branch, go left with all
// extensions that satisfy the test if there are any, else right with the bindings as they were.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/facts.hpp"

namespace treethink {

/// A fact with variables, asked at a branch. Variables numbered from the node's own number
/// of variables on are new: the test asks whether objects for them exist.
struct Test {
    std::size_t type = 0;  // position in fact_types(schema)
    std::array<std::uint32_t, 2> variables{};
    Vector value;
};

/// A set of bindings: for each, one row per variable.
struct Bindings {
    std::size_t width = 0;
    std::vector<Row> rows;

    [[nodiscard]] std::size_t size() const { return width == 0 ? 0 : rows.size() / width; }
    [[nodiscard]] std::span<Row const> operator[](std::size_t i) const { return {rows.data() + i * width, width}; }
};

/// More bindings than this are not kept: the first ones in canonical order are.
inline constexpr std::size_t most_bindings = 4096;

/// Keeps the first `most_bindings`: variable by variable, objects ordered by their values, then id.
void keep_first(State const& state, std::vector<ClassId> const& classes, Bindings& bindings);

/// How many new variables a test introduces at a node with `variables` variables.
[[nodiscard]] inline std::size_t new_variables(FactType const& type, Test const& test, std::size_t variables) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < type.arity; ++k) n += test.variables[k] >= variables;
    return n;
}

/// What is unlike what a person would ask: 1 for each new variable, 1 more for each that the test does not
/// tie to an existing one, and 1 when it names an absolute vector.
[[nodiscard]] inline std::size_t cost_of(FactType const& type, std::size_t new_variables) {
    bool const tied = new_variables < type.arity;
    return new_variables + (tied ? 0 : new_variables) + (type.kind->absolute() && type.value_length > 1 ? 1 : 0);
}
inline constexpr std::size_t most_cost = 5;

/// The classes of a node's variables followed by those that the test introduces.
[[nodiscard]] std::vector<ClassId> extended_classes(FactType const& type, Test const& test,
                                                    std::vector<ClassId> const& classes);

/// Calls visit(rows of the new variables) for every extension of one binding, until false.
template <class Source, class Visit>
void each_extension(Source const& source, FactType const& type, Test const& test, std::vector<ClassId> const& classes,
                    std::span<Row const> binding, Visit&& visit) {
    std::size_t const variables = binding.size();
    Arguments given{any_row, any_row};
    for (std::size_t k = 0; k < type.arity; ++k)
        if (test.variables[k] < variables) given[k] = binding[test.variables[k]];
    auto taken = [&](std::size_t k, Row row) {
        for (std::size_t v = 0; v < variables; ++v)
            if (binding[v] == row && classes[v] == type.classes[k]) return true;
        return false;
    };
    source.groundings(type, test.value, given, [&](Row x, Row y) {
        std::array<Row, 2> const rows{x, y};
        std::array<Row, 2> fresh{};
        std::size_t n = 0;
        for (std::size_t k = 0; k < type.arity; ++k) {
            if (test.variables[k] < variables) continue;
            if (taken(k, rows[k])) return true;
            fresh[n++] = rows[k];
        }
        return visit(std::span<Row const>(fresh.data(), n));
    });
}

/// All extensions of all bindings, into `out` (the first ones, if too many). Empty: the test fails.
template <class Source>
void extend(Source const& source, FactType const& type, Test const& test, std::vector<ClassId> const& classes,
            Bindings const& bindings, Bindings& out) {
    out.width = bindings.width + new_variables(type, test, bindings.width);
    out.rows.clear();
    std::vector<ClassId> extended;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        auto const binding = bindings[i];
        each_extension(source, type, test, classes, binding, [&](std::span<Row const> fresh) {
            out.rows.insert(out.rows.end(), binding.begin(), binding.end());
            out.rows.insert(out.rows.end(), fresh.begin(), fresh.end());
            if (out.size() >= 4 * most_bindings) {  // never hold many more than are kept
                if (extended.empty()) extended = extended_classes(type, test, classes);
                keep_first(source.state(), extended, out);
            }
            return true;
        });
    }
    if (out.size() > most_bindings) keep_first(source.state(), extended_classes(type, test, classes), out);
}

/// The most extensions that any one binding can have.
std::size_t most_extensions(State const& state, FactType const& type, Test const& test, std::size_t variables);

}  // namespace treethink
