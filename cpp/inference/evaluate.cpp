// evaluate.cpp - the leaf that a target reaches (Tree::route), by two methods that always agree.
//
// `all` is set narrowing itself (`narrow` in routing.hpp). `first` (the paper's evaluateShortCircuit)
// follows one binding at a time, depth first, and stops at the first path that goes left all the way;
// among the others the lexicographically most-left one wins, which is the path that set narrowing takes.
// Only where set narrowing might cut its bindings (see max_bindings) could the two differ, so there
// `first` hands over to `all`. It also does so in trees that are too deep for a recursion: threads may
// have little stack.
#include <array>
#include <cstdint>

#include "learning/tree.hpp"

namespace treethink {

namespace {

constexpr unsigned max_recursion = 32;

template <class Source>
class DepthFirst {
public:
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): binding_ is read only as far as it was written
    DepthFirst(std::vector<Node> const& nodes, Source const& source, std::vector<FactType> const& types)
        : nodes_(nodes), source_(source), types_(types) {}

    /// The leaf, or nothing when there might be too many bindings or the tree is too deep.
    std::optional<NodeId> run(std::span<Row const> arguments) {
        for (Row const row : arguments) binding_[width_++] = row;
        descend(kRoot, 1);
        return gave_up_ ? std::nullopt : std::optional(best_);
    }

private:
    // Follows one binding to the most-left leaf that it reaches. Returns whether the path went left all the way.
    bool descend(NodeId at, std::size_t bindings) {
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
            bindings *= max_extensions(source_.state(), type, node.test, width);
            gave_up_ = gave_up_ || bindings > max_bindings;
        }
        gave_up_ = gave_up_ || depth_ >= max_recursion;
        if (gave_up_) return true;
        bool passed = false, leftmost = false;
        each_extension(source_, type, node.test, node.variable_classes, {binding_.data(), width},
                       [&](std::span<Row const> added) {
                           passed = true;
                           for (Row const row : added) binding_[width_++] = row;
                           leftmost = step(node.left, true, bindings);
                           width_ = width;
                           return !leftmost && !gave_up_;
                       });
        if (!passed) step(node.right, false, bindings);
        return leftmost;
    }

    bool step(NodeId to, bool left, std::size_t bindings) {
        std::uint64_t const path = path_;
        path_ |= static_cast<std::uint64_t>(left) << (63 - depth_++);
        bool const leftmost = could_be_best() && descend(to, bindings);
        path_ = path;
        --depth_;
        return leftmost;
    }

    // Whether the path can still be further left than the best one so far.
    [[nodiscard]] bool could_be_best() const {
        if (!found_) return true;
        std::uint64_t const best_so_far = best_path_ & ~(~std::uint64_t{0} >> depth_);
        return path_ > best_so_far || (path_ == best_so_far && depth_ < best_depth_);
    }

    std::vector<Node> const& nodes_;
    Source const& source_;
    std::vector<FactType> const& types_;
    std::array<Row, 2 * max_recursion + max_arguments> binding_;
    std::size_t width_ = 0;
    std::uint64_t path_ = 0, best_path_ = 0;  // from the top bit down: 1 is left
    unsigned depth_ = 0, best_depth_ = 0;
    NodeId best_ = kNoNode;
    bool found_ = false;    // whether a leaf was reached
    bool gave_up_ = false;  // too many bindings, or too deep
};

}  // namespace

template <class Source>
NodeId Tree::route(Source const& source, std::vector<FactType> const& types, std::span<Row const> arguments,
                   BindingsMode mode) const {
    if (mode == BindingsMode::first)
        if (auto const leaf = DepthFirst(nodes_, source, types).run(arguments)) return *leaf;
    Bindings bindings{arguments.size(), {arguments.begin(), arguments.end()}};
    Bindings extended;
    return narrow(nodes_, source, types, bindings, extended, [](Node const&) {});
}

template NodeId Tree::route(FactsOnDemand const&, std::vector<FactType> const&, std::span<Row const>,
                            BindingsMode) const;
template NodeId Tree::route(FactsInFull const&, std::vector<FactType> const&, std::span<Row const>, BindingsMode) const;

}  // namespace treethink
