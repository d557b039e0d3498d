// evaluate.cpp - the node a target ends in (Tree::route), by two ways that always agree.
//
// `all` is set narrowing itself. `first` follows one binding at a time, depth first, and stops at
// the first path that goes left all the way; among the others the lexicographically most-left one
// wins, which is the path that set narrowing takes. Only where set narrowing might cut its bindings
// (see most_bindings) could the two differ, so there `first` hands over to `all`. So it does in trees
// too deep for a recursion: threads may have little stack.
#include <array>
#include <cstdint>

#include "learning/tree.hpp"

namespace treethink {

namespace {

constexpr unsigned deepest_recursion = 32;

template <class Source>
class DepthFirst {
public:
    DepthFirst(std::vector<Node> const& nodes, Source const& source, std::vector<FactType> const& types)
        : nodes_(nodes), source_(source), types_(types) {}

    /// Nothing when the bindings might be too many, or the tree is too deep.
    std::optional<std::uint32_t> run(std::span<Row const> arguments) {
        for (Row const row : arguments) binding_[width_++] = row;
        descend(0, 1);
        return too_much_ ? std::nullopt : std::optional(best_);
    }

private:
    // Whether the path from here on went left all the way.
    bool descend(std::uint32_t at, std::size_t bindings) {
        Node const& node = nodes_[at];
        if (node.is_leaf()) {
            best_ = at;
            best_path_ = path_;
            best_depth_ = depth_;
            found_ = true;
            return true;
        }
        FactType const& type = types_[node.test.type];
        std::size_t const width = width_;
        if (new_variables(type, node.test, width) > 0) {
            bindings *= most_extensions(source_.state(), type, node.test, width);
            too_much_ = too_much_ || bindings > most_bindings;
        }
        too_much_ = too_much_ || depth_ >= deepest_recursion;
        if (too_much_) return true;
        bool passed = false, leftmost = false;
        each_extension(source_, type, node.test, node.classes, {binding_.data(), width},
                       [&](std::span<Row const> fresh) {
                           passed = true;
                           for (Row const row : fresh) binding_[width_++] = row;
                           leftmost = step(node.left, true, bindings);
                           width_ = width;
                           return !leftmost && !too_much_;
                       });
        if (!passed) step(node.right, false, bindings);
        return leftmost;
    }

    bool step(std::uint32_t to, bool left, std::size_t bindings) {
        std::uint64_t const path = path_;
        path_ |= static_cast<std::uint64_t>(left) << (63 - depth_++);
        bool const leftmost = could_be_best() && descend(to, bindings);
        path_ = path;
        --depth_;
        return leftmost;
    }

    // A path that has fallen behind the best one cannot catch up.
    [[nodiscard]] bool could_be_best() const {
        if (!found_) return true;
        std::uint64_t const best_so_far = best_path_ & ~(~std::uint64_t{0} >> depth_);
        return path_ > best_so_far || (path_ == best_so_far && depth_ < best_depth_);
    }

    std::vector<Node> const& nodes_;
    Source const& source_;
    std::vector<FactType> const& types_;
    std::array<Row, 2 * deepest_recursion + most_arguments> binding_;
    std::size_t width_ = 0;
    std::uint64_t path_ = 0, best_path_ = 0;  // from the top bit down: 1 is left
    unsigned depth_ = 0, best_depth_ = 0;
    std::uint32_t best_ = 0;
    bool found_ = false, too_much_ = false;
};

template <class Source>
std::uint32_t narrow(std::vector<Node> const& nodes, Source const& source, std::vector<FactType> const& types,
                     std::span<Row const> arguments) {
    Bindings bindings{arguments.size(), {arguments.begin(), arguments.end()}};
    Bindings extended;
    std::uint32_t at = 0;
    while (!nodes[at].is_leaf()) {
        Node const& node = nodes[at];
        extend(source, types[node.test.type], node.test, node.classes, bindings, extended);
        at = extended.size() > 0 ? node.left : node.right;
        if (extended.size() > 0) std::swap(bindings, extended);
    }
    return at;
}

}  // namespace

template <class Source>
std::uint32_t Tree::route(Source const& source, std::vector<FactType> const& types, std::span<Row const> arguments,
                          BindingsMode mode) const {
    if (mode == BindingsMode::first)
        if (auto const leaf = DepthFirst(nodes_, source, types).run(arguments)) return *leaf;
    return narrow(nodes_, source, types, arguments);
}

template std::uint32_t Tree::route(FactsOnDemand const&, std::vector<FactType> const&, std::span<Row const>,
                                   BindingsMode) const;
template std::uint32_t Tree::route(FactsInFull const&, std::vector<FactType> const&, std::span<Row const>,
                                   BindingsMode) const;

}  // namespace treethink
