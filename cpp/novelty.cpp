#include "novelty.hpp"

#include <algorithm>
#include <utility>

namespace treethink {

namespace {

/// A test on the path whose objects are determined, and the value that holds for them now.
struct Asked {
    NodeId node = kNoNode;
    Test test;                  // with the value that holds now
    std::array<Row, 2> rows{};  // by object

    /// Two terms may be of one object.
    [[nodiscard]] Row row_of_term(FactType const& type, std::size_t k) const {
        return rows[type.within_object() ? 0 : k];
    }
};

class PathReader {
public:
    PathReader(Tree const& tree, Codes const& codes, State const& state, std::vector<std::size_t> const& counted)
        : tree_(tree), codes_(codes), state_(state), counted_objects_(counted) {}

    std::optional<Novelty> read(Row row) {
        Bindings bindings{1, {row}}, extended;
        NodeId at = kRoot;
        NodeId const leaf =
            narrow(tree_.nodes(), FactsOnDemand(state_), codes_.types(), bindings, extended, [&](Node const& node) {
                at = static_cast<NodeId>(&node - tree_.nodes().data());
                if (!node.is_leaf()) note(at, bindings);
            });
        if (!tree_.has_answer(leaf) && !tree_.is_mostly_others(leaf)) return Novelty{Novelty::Kind::leaf, {}, {}, {}};
        for (Asked const& each : asked_)
            if (!has_held(each)) return novelty_of(each);
        return std::nullopt;
    }

private:
    void note(NodeId at, Bindings const& bindings) {
        Node const& node = tree_.nodes()[at];
        FactType const& type = codes_.types()[node.test.type];
        Asked asked{at, node.test, {}};
        if (!node.candidates.are_counted()) return;  // it does not count
        // An order or a threshold means all values on its side, also those that were never seen.
        if (!type.counted) return;
        // A relation of two places says the same wherever they are far apart.
        if (type.arity == 2 && type.value_length > 1) return;
        for (std::size_t k = 0; k < type.arity; ++k) {
            auto const row = determined(node, type, k, bindings);
            if (!row) return;
            asked.rows[k] = *row;
        }
        VectorView const x = state_.value(type.slots[0], asked.rows[0]);
        VectorView const y = type.terms == 2 ? state_.value(type.slots[1], asked.row_of_term(type, 1)) : VectorView{};
        asked.test.value.resize(type.value_length);
        if (type.kind->value(x, y, asked.test.value.data())) asked_.push_back(std::move(asked));
    }

    /// The row of an argument of a node's test, if all bindings agree on it, or if there is no other object.
    std::optional<Row> determined(Node const& node, FactType const& type, std::size_t k, Bindings const& bindings) {
        std::uint32_t const variable = node.test.variables[k];
        if (variable < bindings.width) return common_row(bindings, variable);
        ClassId const wanted = type.classes[k];
        std::size_t const rows = state_.rows(wanted);
        if (rows == 0 || counted_objects_[wanted] != rows) return std::nullopt;
        std::vector<ClassId> const& classes = node.variable_classes;
        std::vector<bool> bound(rows, false);
        for (std::uint32_t v = 0; v < bindings.width; ++v) {
            if (classes[v] != wanted) continue;
            auto const row = common_row(bindings, v);
            if (!row) return std::nullopt;
            bound[*row] = true;
        }
        auto const free = std::find(bound.begin(), bound.end(), false);
        if (std::count(bound.begin(), bound.end(), false) != 1) return std::nullopt;
        return static_cast<Row>(free - bound.begin());
    }

    static std::optional<Row> common_row(Bindings const& bindings, std::uint32_t variable) {
        Row const first = bindings[0][variable];
        for (std::size_t i = 1; i < bindings.size(); ++i)
            if (bindings[i][variable] != first) return std::nullopt;
        return first;
    }

    /// Whether the value has held at the node: in its own counts, or at a leaf below. A settled branch does not count
    /// what its leaves explain, so the leaves know more.
    [[nodiscard]] bool has_held(Asked const& asked) const {
        Code const code = codes_.find(asked.test.type, asked.test.value);
        if (code == no_code) return false;
        if (is_candidate(tree_.nodes()[asked.node], asked.test, code)) return true;
        std::size_t const width = tree_.nodes()[asked.node].variable_classes.size();
        for (NodeId const below : subtree(tree_.nodes(), asked.node)) {
            Node const& node = tree_.nodes()[below];
            if (node.is_leaf() && is_candidate(node, as_asked_at(node, asked.test, width), code)) return true;
        }
        return false;
    }

    [[nodiscard]] bool is_candidate(Node const& node, Test const& test, Code code) const {
        if (!node.candidates.are_counted()) return false;
        auto const block = find_block(codes_.types(), node.variable_classes, test);
        BlockCounters const* const counters = block ? node.candidates.find(*block) : nullptr;
        return counters != nullptr && counters->find_column(code) != BlockCounters::kNoColumn;
    }

    /// The test of a node with `width` variables, in the variables of a leaf below it: the only other object of a
    /// class may have a variable there.
    [[nodiscard]] Test as_asked_at(Node const& leaf, Test test, std::size_t width) const {
        FactType const& type = codes_.types()[test.type];
        std::vector<ClassId> const& classes = leaf.variable_classes;
        auto next = static_cast<std::uint32_t>(classes.size());
        for (std::size_t k = 0; k < type.arity; ++k) {
            if (test.variables[k] < width) continue;
            auto const from = classes.begin() + static_cast<std::ptrdiff_t>(width);
            auto const bound = std::find(from, classes.end(), type.classes[k]);
            test.variables[k] = bound == classes.end() ? next++ : static_cast<std::uint32_t>(bound - classes.begin());
        }
        return test;
    }

    [[nodiscard]] Novelty novelty_of(Asked const& asked) const {
        FactType const& type = codes_.types()[asked.test.type];
        Novelty novelty{Novelty::Kind::value, std::string(type.kind->name()), {}, asked.test.value};
        for (std::size_t k = 0; k < type.terms; ++k)
            novelty.objects.emplace_back(type.slots[k], asked.row_of_term(type, k));
        return novelty;
    }

    Tree const& tree_;
    Codes const& codes_;
    State const& state_;
    std::vector<std::size_t> const& counted_objects_;
    std::vector<Asked> asked_;  // from the root down
};

}  // namespace

std::optional<Novelty> find_novelty(Tree const& tree, Codes const& codes, State const& state, Row row,
                                    std::vector<std::size_t> const& counted_objects) {
    if (tree.transitions() == 0 && !tree.varies()) return Novelty{Novelty::Kind::rule, {}, {}, {}};
    if (!tree.varies()) return std::nullopt;
    auto novelty = PathReader(tree, codes, state, counted_objects).read(row);
    // Values that were counted and dropped may have held.
    if (novelty && novelty->kind == Novelty::Kind::value && tree.forgotten() > 0) return std::nullopt;
    return novelty;
}

}  // namespace treethink
