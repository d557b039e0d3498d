// editing.cpp - what people change in a tree: parts written by hand, parts that stay, parts that go.
//
// A written branch keeps its test, and a written leaf says what it was given (if that is nothing, what stands above it
// says) until it has counted something. What is pinned does not
// learn, but a pinned leaf takes note of what comes by. Branches above any of these keep their tests too (`held`),
// or the edit would be thrown away with them; everything else goes on learning.
#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "learning/counting.hpp"
#include "model.hpp"

namespace treethink {

namespace {

constexpr std::uint64_t most_given = std::uint64_t{1} << 53;
// Every node has a counter for every outcome.
constexpr std::size_t most_counters = std::size_t{1} << 22;

void check_test(Test const& test, std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                std::uint32_t depth) {
    if (depth >= deepest) throw RuleError("a rule can be " + std::to_string(deepest) + " tests deep at most");
    if (classes.size() >= most_variables)
        throw RuleError("a rule can ask about " + std::to_string(most_variables) + " objects at most");
    if (test.type >= types.size() || !find_block(types, classes, test))
        throw RuleError("a test asks about variables that it cannot have");
    FactType const& type = types[test.type];
    if (test.value.size() != type.value_length)
        throw RuleError("a test must name a value of length " + std::to_string(type.value_length) +
                        ", got one of length " + std::to_string(test.value.size()));
    bool const extreme = std::count(test.value.begin(), test.value.end(), std::numeric_limits<Int>::min()) > 0;
    if (type.arity == 2 && extreme) throw RuleError("a test names a value whose negation does not fit 64 bits");
}

void check_leaf(Written const& leaf) {
    for (auto const& [outcome, n] : leaf.outcomes)
        if (n < 1 || n > most_given)
            throw RuleError("an outcome must be seen 1 to " + std::to_string(most_given) + " times, got " +
                            std::to_string(n));
}

void check_tree(std::vector<Written> const& nodes, std::vector<FactType> const& types, std::vector<ClassId> classes,
                std::uint32_t depth) {
    std::vector<std::pair<std::vector<ClassId>, std::uint32_t>> open{{std::move(classes), depth}};
    for (Written const& node : nodes) {
        if (open.empty()) throw RuleError("a rule has nodes left over");
        auto const [known, deep] = std::move(open.back());
        open.pop_back();
        if (!node.test) {
            check_leaf(node);
            continue;
        }
        check_test(*node.test, types, known, deep);
        open.emplace_back(known, deep + 1);
        open.emplace_back(extended_classes(types[node.test->type], *node.test, known), deep + 1);
    }
    if (!open.empty()) throw RuleError("a rule ends before all of its branches do");
    auto const says_nothing = [](Written const& node) { return node.outcomes.empty(); };
    if (std::all_of(nodes.begin(), nodes.end(), says_nothing)) throw RuleError("a rule names no outcome at all");
}

}  // namespace

// ---- one tree ----

void Tree::check_size(std::size_t nodes, std::vector<Vector> named) const {
    named.insert(named.end(), outcomes_.begin(), outcomes_.end());
    std::sort(named.begin(), named.end());
    auto const different = static_cast<std::size_t>(std::unique(named.begin(), named.end()) - named.begin());
    if ((nodes + nodes_.size()) * different > most_counters)
        throw RuleError("a rule of " + std::to_string(nodes + nodes_.size()) + " nodes and " +
                        std::to_string(different) + " outcomes is too large: their product can be " +
                        std::to_string(most_counters) + " at most");
}

std::optional<std::uint32_t> Tree::find(std::string_view path) const {
    std::uint32_t at = 0;
    for (char const step : path) {
        if (nodes_.empty() || nodes_[at].is_leaf() || (step != 'L' && step != 'R')) return std::nullopt;
        at = step == 'L' ? nodes_[at].left : nodes_[at].right;
    }
    return at;
}

std::vector<std::uint32_t> Tree::below(std::uint32_t at) const {
    std::vector<std::uint32_t> found, open{at};
    while (!open.empty()) {
        found.push_back(open.back());
        open.pop_back();
        Node const& node = nodes_[found.back()];
        if (!node.is_leaf()) open.insert(open.end(), {node.right, node.left});
    }
    return found;
}

void Tree::give(std::uint32_t at, std::vector<std::uint64_t> const& counts) {
    Node& node = nodes_[at];
    node.given.resize(outcomes_.size(), 0);
    for (std::size_t y = 0; y < counts.size(); ++y) {
        std::uint64_t const more = std::min(counts[y], most_seen - node.given_n);
        node.given[y] += more;
        node.given_n += more;
    }
}

std::vector<std::uint64_t> Tree::answer_of(std::uint32_t at) const {
    std::vector<std::uint64_t> counts;
    for (std::size_t y = 0; y < outcomes_.size(); ++y) counts.push_back(answer_count(at, y));
    return counts;
}

void Tree::replace(std::uint32_t at, std::vector<Written> const& nodes, std::vector<FactType> const& types) {
    check_tree(nodes, types, varies() ? nodes_[at].classes : arguments_, varies() ? nodes_[at].depth : 0);
    std::vector<Vector> outcomes;
    for (Written const& each : nodes)
        for (auto const& [outcome, n] : each.outcomes) outcomes.push_back(outcome);
    check_size(nodes.size(), outcomes);
    add_outcomes(std::move(outcomes));
    if (!varies()) (void)add_node(0, arguments_);
    drop_below(at);
    std::vector<std::uint32_t> open{at};
    for (Written const& each : nodes) {
        std::uint32_t const next = open.back();
        open.pop_back();
        Node node;
        node.parent = nodes_[next].parent;
        node.depth = nodes_[next].depth;
        node.classes = std::move(nodes_[next].classes);
        node.totals.resize(outcomes_.size(), 0);
        node.written = true;
        nodes_[next] = std::move(node);
        std::vector<std::uint64_t> counts(outcomes_.size(), 0);
        for (auto const& [outcome, n] : each.outcomes) counts[*find_outcome(outcome)] += n;
        give(next, counts);
        if (!each.test) continue;
        nodes_[next].test = *each.test;
        add_children(next, types);
        open.push_back(nodes_[next].right);
        open.push_back(nodes_[next].left);
    }
    auto const written = below(at);
    for (auto each = written.rbegin(); each != written.rend(); ++each) {
        Node const& node = nodes_[*each];
        if (node.is_leaf()) continue;
        std::uint32_t const left = node.left, right = node.right;
        give(*each, nodes_[left].given);
        give(*each, nodes_[right].given);
    }
    pin(at);
}

void Tree::pin(std::uint32_t at) {
    if (!varies()) {
        if (now_ == 0) throw RuleError("it has never been seen: there is nothing to pin");
        (void)add_node(0, arguments_);
        nodes_[0].written = true;
        give(0, seen_);
    }
    // What it says stays, also where that is what it ever saw, or what stands above it says.
    if (answers_with_all(at)) {
        std::vector<std::uint64_t> earlier = seen_;
        for (std::size_t y = 0; y < earlier.size(); ++y)
            earlier[y] -= std::min<std::uint64_t>(earlier[y], nodes_[at].totals[y]);
        give(at, earlier);
    } else if (nodes_[at].is_empty()) {
        give(at, answer_of(answering(at)));
    }
    for (std::uint32_t const each : below(at)) {
        Node& node = nodes_[each];
        if (node.is_leaf() && !node.pinned) node.met.assign(outcomes_.size(), 0);
        if (node.is_leaf() && node.written) node.blocks.clear();  // it has not counted anything
        node.pinned = true;
    }
    find_held();
}

void Tree::unpin(std::uint32_t at, std::vector<FactType> const& types, bool fresh) {
    if (!varies()) return;
    for (std::uint32_t const each : below(at)) {
        Node& node = nodes_[each];
        if (!node.pinned) continue;
        node.pinned = false;
        std::vector<std::uint64_t> const met = std::exchange(node.met, {});
        if (!node.is_leaf()) continue;
        bool const has_met = std::any_of(met.begin(), met.end(), [](std::uint64_t n) { return n > 0; });
        if (node.written) {
            node.blocks = make_blocks(types, node.classes);
            if (fresh) make_fresh(each);
            if (!has_met) continue;
            node.given.clear();  // rather what it has met; and if that is kept it will be counted, and not twice
            node.given_n = 0;
            node.written = fresh;
        }
        if (has_met) give(each, met);
    }
    if (nodes_[0].is_leaf() && !nodes_[0].pinned && outcomes_.size() < 2 && now_ > 0) {  // a constant again
        nodes_.clear();
        free_.clear();
        fresh_.clear();
    }
    find_held();
}

void Tree::keep_child(std::uint32_t at, bool left, bool merge) {
    if (!varies() || nodes_[at].is_leaf()) throw RuleError("a leaf has no children to keep");
    std::uint32_t const kept = left ? nodes_[at].left : nodes_[at].right;
    std::uint32_t const other = left ? nodes_[at].right : nodes_[at].left;
    if (nodes_[kept].classes.size() != nodes_[at].classes.size())
        throw RuleError("a child that knows more variables cannot stand in its parent's place");
    if (merge) {
        auto const mine = below(kept), theirs = below(other);
        bool same = mine.size() == theirs.size();
        for (std::size_t i = 0; same && i < mine.size(); ++i)
            same = nodes_[mine[i]].is_leaf() == nodes_[theirs[i]].is_leaf();
        if (!same) throw RuleError("only branches of the same form can be merged");
        for (std::size_t i = 0; i < mine.size(); ++i)
            if (nodes_[mine[i]].is_leaf() && !nodes_[theirs[i]].is_empty()) give(mine[i], answer_of(theirs[i]));
    }
    // Leaves below that have seen nothing answer as before.
    if (nodes_[kept].is_empty()) give(kept, answer_of(at));
    if (at == 0) give(kept, {});  // and the root does not answer with all that was ever seen
    move_up(kept);
    find_held();
}

// Into its parent's place, whose other child is dropped.
void Tree::move_up(std::uint32_t child) {
    std::uint32_t const at = nodes_[child].parent;
    for (std::uint32_t const each : below(child)) --nodes_[each].depth;
    Node node = std::move(nodes_[child]);
    node.parent = nodes_[at].parent;
    nodes_[child] = Node{};
    drop_below(at);
    nodes_[at] = std::move(node);
    if (nodes_[at].is_leaf()) return;
    nodes_[nodes_[at].left].parent = at;
    nodes_[nodes_[at].right].parent = at;
}

void Tree::find_held() {
    std::vector<std::uint32_t> const order = preorder();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
        Node& node = nodes_[*at];
        auto const fixed = [&](std::uint32_t child) { return nodes_[child].pinned || nodes_[child].held; };
        node.held = !node.is_leaf() && (node.pinned || node.written || fixed(node.left) || fixed(node.right));
    }
}

// ---- one rule of a model ----

namespace {

std::uint32_t found(Tree const& tree, std::string_view path) {
    if (auto const at = tree.find(path)) return *at;
    throw RuleError("the rule has no node at the path '" + std::string(path) + "'");
}

}  // namespace

void Model::replace(SlotId slot, ActionId action, std::string_view path, std::vector<Written> const& nodes) {
    std::unique_lock const lock(mutex_);
    Tree& tree = this->tree(slot, action);
    for (Written const& node : nodes)
        for (auto const& [outcome, n] : node.outcomes)
            if (outcome.size() != schema_->length(slot))
                throw RuleError("an outcome must be of length " + std::to_string(schema_->length(slot)) +
                                ", got one of length " + std::to_string(outcome.size()));
    tree.replace(found(tree, path), nodes, codes_.types());
    was_edited(tree);
}

void Model::pin(SlotId slot, ActionId action, std::string_view path) {
    std::unique_lock const lock(mutex_);
    Tree& tree = this->tree(slot, action);
    tree.pin(found(tree, path));
    was_edited(tree);
}

// Leaves that start to learn begin like those of a new split: with what is kept.
void Model::unpin(SlotId slot, ActionId action, std::string_view path) {
    std::unique_lock const lock(mutex_);
    Tree& tree = this->tree(slot, action);
    tree.unpin(found(tree, path), codes_.types(), !window_.transitions().empty());
    if (tree.has_fresh()) {
        seed({{slot, action}});
        seeded_.emplace_back(slot, action);
        std::sort(seeded_.begin(), seeded_.end());
        seeded_.erase(std::unique(seeded_.begin(), seeded_.end()), seeded_.end());
    }
    was_edited(tree);
}

void Model::keep_child(SlotId slot, ActionId action, std::string_view path, bool left, bool merge) {
    std::unique_lock const lock(mutex_);
    Tree& tree = this->tree(slot, action);
    tree.keep_child(found(tree, path), left, merge);
    was_edited(tree);
}

void Model::was_edited(Tree& tree) {
    tree.find_rest(*criterion_);
    ++edits_;
}

std::uint64_t Model::edits() const {
    std::shared_lock const lock(mutex_);
    return edits_;
}

}  // namespace treethink
