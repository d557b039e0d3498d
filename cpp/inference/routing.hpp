// routing.hpp - which objects a node's variables stand for, and the way of a target through a tree.
//
// The meaning of a tree is set narrowing: keep every binding; at a branch, go left with all
// extensions that satisfy the test if there are any, else right with the bindings as they were.
// `narrow` does this, for learning and for predictions with bindings="all". A prediction with bindings="first"
// finds the same leaf by depth-first search (evaluate.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/facts.hpp"

namespace treethink {

/// Position of a node in its tree's list of nodes.
using NodeId = std::uint32_t;
inline constexpr NodeId kRoot = 0;
/// The parent of the root, and the children of a leaf.
inline constexpr NodeId kNoNode = ~NodeId{0};

/// How a prediction finds facts: each when a test needs it, or all of them first (the paper's ablation).
enum class FactsMode { demand, full };
/// How a prediction follows bindings: depth first until one suffices, or all at once (the paper's ablation).
enum class BindingsMode { first, all };

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

    /// Without variables there is one binding: the empty one.
    [[nodiscard]] std::size_t size() const { return width == 0 ? 1 : rows.size() / width; }
    [[nodiscard]] std::span<Row const> operator[](std::size_t i) const { return {rows.data() + i * width, width}; }
};

/// Only so many bindings are kept: the first ones in canonical order.
inline constexpr std::size_t max_bindings = 4096;

/// Keeps the first `max_bindings`: variable by variable, objects ordered by their values, then id.
void keep_first_bindings(State const& state, std::vector<ClassId> const& classes, Bindings& bindings);

/// How many new variables a test introduces at a node with `variables` variables.
[[nodiscard]] inline std::size_t new_variables(FactType const& type, Test const& test, std::size_t variables) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < type.arity; ++k) n += test.variables[k] >= variables;
    return n;
}

/// Complexity class of a test, 0 to `max_cost`: 1 for each variable that it introduces, 1 more for each of these
/// that it does not tie to an existing one, and 1 when it names an absolute vector, or any other object. People prefer
/// tests of low cost.
[[nodiscard]] inline std::size_t cost_of(FactType const& type, std::size_t introduced) {
    bool const tied = introduced < type.arity;
    bool const absolute = (type.kind->absolute() && type.value_length > 1) || type.component;
    return introduced + (tied ? 0 : introduced) + (absolute || type.of_any ? 1 : 0);
}
inline constexpr std::size_t max_cost = 5;

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
        std::array<Row, 2> added{};
        std::size_t n = 0;
        for (std::size_t k = 0; k < type.arity; ++k) {
            if (test.variables[k] < variables) continue;
            if (taken(k, rows[k])) return true;
            added[n++] = rows[k];
        }
        return visit(std::span<Row const>(added.data(), n));
    });
}

/// Writes the bindings for which a test without new variables holds to `out`.
inline void keep_where_holds(FactsOnDemand const& facts, FactType const& type, Test const& test,
                             Bindings const& bindings, Bindings& out) {
    std::size_t const second = type.arity == 1 ? 0 : 1;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        auto const binding = bindings[i];
        if (facts.holds(type, test.value, binding[test.variables[0]], binding[test.variables[second]]))
            out.rows.insert(out.rows.end(), binding.begin(), binding.end());
    }
}

/// Writes all extensions of all bindings to `out` (the first ones, if too many). Empty: the test fails.
template <class Source>
void extend(Source const& source, FactType const& type, Test const& test, std::vector<ClassId> const& classes,
            Bindings const& bindings, Bindings& out) {
    out.width = bindings.width + new_variables(type, test, bindings.width);
    out.rows.clear();
    if constexpr (std::is_same_v<Source, FactsOnDemand>)
        if (out.width == bindings.width) return keep_where_holds(source, type, test, bindings, out);
    std::vector<ClassId> extended;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        auto const binding = bindings[i];
        each_extension(source, type, test, classes, binding, [&](std::span<Row const> added) {
            out.rows.insert(out.rows.end(), binding.begin(), binding.end());
            out.rows.insert(out.rows.end(), added.begin(), added.end());
            if (out.size() >= 4 * max_bindings) {  // never hold many more than are kept
                if (extended.empty()) extended = extended_classes(type, test, classes);
                keep_first_bindings(source.state(), extended, out);
            }
            return true;
        });
    }
    if (out.size() > max_bindings) keep_first_bindings(source.state(), extended_classes(type, test, classes), out);
}

/// Set narrowing (the paper's checkBranch and recursion): follows `bindings` from the root to a leaf, which is
/// returned. visit(node) is called at each node on the way, while `bindings` holds the set that has arrived there.
/// `extended` is scratch space.
template <class Nodes, class Source, class Visit>
NodeId narrow(Nodes& nodes, Source const& source, std::vector<FactType> const& types, Bindings& bindings,
              Bindings& extended, Visit&& visit) {
    for (NodeId at = kRoot;;) {
        auto& node = nodes[at];
        visit(node);
        if (node.is_leaf()) return at;
        extend(source, types[node.test.type], node.test, node.variable_classes, bindings, extended);
        bool const holds = extended.size() > 0;
        at = holds ? node.left : node.right;
        if (holds) std::swap(bindings, extended);
    }
}

/// An upper bound on the number of extensions of any one binding.
std::size_t max_extensions(State const& state, FactType const& type, Test const& test, std::size_t variables);

}  // namespace treethink
