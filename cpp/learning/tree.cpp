#include "learning/tree.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "learning/counting.hpp"
#include "learning/selection.hpp"

namespace treethink {

namespace {

// A node is looked at when there is so much more to explain: one part in so many.
constexpr Log part = 32;
// How much of what the tests below a branch explain its challengers must make up for.
constexpr double make_up_for = 1.0 / 16;
// Counters are 32 bits wide. A node that has counted this much has nothing left to learn.
constexpr std::uint64_t most_counted = std::numeric_limits<Count>::max();

CandidateId current(Node const& node) { return {node.test_block, node.test_code}; }

// Nothing to explain, or no room to explain it in.
bool stays_leaf(Node const& node) {
    return node.depth >= deepest || node.classes.size() >= most_variables || node.is_pure();
}

// Scores depend on it, and the bound on scores.
void weigh_copies(Node& node) {
    std::uint64_t const copies = node.together.copies(node.totals, node.n);
    if (copies == node.copies) return;
    node.copies = copies;
    node.bound = std::numeric_limits<double>::infinity();
}

// Whether what happened is a part more surprising than when the node was last looked at. Surprises are looked at
// at once; what is as expected, after a while.
bool has_more_to_explain(Learning& learning, Node& node) {
    if (node.n < node.look_again) return false;
    Log const surprise = -static_cast<Log>(score_without_test(learning, node));
    Log const missing = node.looked_at + node.looked_at / part - surprise;
    if (missing > 0) {
        // One outcome more of n is never a larger surprise than that of a new one. Until n has doubled:
        Log const largest = LogTables::get().number(4 * node.n + 2 * node.totals.size());
        node.look_again = node.n + std::min<std::uint64_t>(node.n, static_cast<std::uint64_t>(missing / largest));
        return false;
    }
    node.looked_at = surprise;
    weigh_copies(node);
    return true;
}

#ifndef NDEBUG
// What skipping the challengers must never miss.
bool anyone_wins(Learning& learning, Node const& node, double to_beat) {
    auto const best = best_candidate(learning, node, node.is_leaf() ? std::nullopt : std::optional(current(node)));
    return best && learning.criterion.surely_better(best->score, to_beat, node.n);
}
#endif

}  // namespace

void Together::add(std::uint64_t transition, std::uint32_t outcome, std::size_t outcomes) {
    if (transition_ != transition) {
        transition_ = transition;
        met_ = 0;
        by_outcome_.assign(outcomes, 0);
    }
    pairs += met_++;
    agreeing += by_outcome_[outcome]++;
}

std::uint64_t Together::copies(Counts totals, std::uint64_t n) const {
    if (pairs == 0) return 1;
    std::uint64_t squares = 0;
    for (Count const count : totals) squares += std::uint64_t{count} * count;
    auto const targets = static_cast<double>(n);
    double const by_chance = static_cast<double>(squares) / (targets * targets);
    if (by_chance >= 1) return 1;
    double const agree = static_cast<double>(agreeing) / static_cast<double>(pairs);
    double const correlation = (agree - by_chance) / (1 - by_chance);
    double const others = 2 * static_cast<double>(pairs) / targets;  // that a target meets, on average
    double const effect = 1 + others * correlation;
    return effect < 1 ? 1 : static_cast<std::uint64_t>(effect + 0.5);
}

bool Node::is_pure() const {
    return std::count_if(totals.begin(), totals.end(), [](Count n) { return n > 0; }) < 2;
}

std::optional<std::uint32_t> Tree::find_outcome(VectorView outcome) const {
    for (std::uint32_t i = 0; i < outcomes_.size(); ++i)
        if (same(outcomes_[i], outcome)) return i;
    return std::nullopt;
}

void Tree::add_outcomes(std::vector<Vector> fresh) {
    std::sort(fresh.begin(), fresh.end());
    for (Vector& outcome : fresh) {
        if (find_outcome(outcome)) continue;
        outcomes_.push_back(std::move(outcome));
        seen_.push_back(0);
    }
    for (Node& node : nodes_) {
        node.totals.resize(outcomes_.size(), 0);
        if (!node.given.empty()) node.given.resize(outcomes_.size(), 0);
        if (!node.met.empty()) node.met.resize(outcomes_.size(), 0);
    }
}

void Tree::observe_constant(std::uint64_t n) {
    ++now_;
    seen_.front() += n;
}

void Tree::observe(Learning& learning, std::span<Target const> targets) {
    ++now_;
    for (Target const& target : targets) ++seen_[target.outcome];
    if (!varies()) {
        if (outcomes_.size() < 2) return;
        nodes_[add_node(0, arguments_)].blocks = make_blocks(learning.codes.types(), arguments_);
        if (learning.settings.memory > 0) return make_fresh(0);
    }
    ++counted_;
    count_targets(learning, targets);
    for (Node& node : nodes_)
        if (node.touched == now_) forgotten_ += forget_candidates(learning, node, learning.settings.max_candidates);
    if (!nodes_[0].rests) decide(learning);
}

// ---- counting ----

void Tree::count_targets(Learning& learning, std::span<Target const> targets) {
    auto& ends = learning.scratch.ends;  // leaves below someone who rests; 0: nobody does
    ends.clear();
    for (Target const& target : targets) {
        bool resting = false;
        std::uint32_t const leaf = walk(learning, target, [&](Node& node) {
            node.touched = now_;
            resting |= node.rests;
            if (node.pinned && node.is_leaf()) ++node.met[target.outcome];
            if (!node.rests && !node.pinned) count(learning, node, target.outcome);
        });
        ends.push_back(resting ? leaf : 0);
    }
    // Those who rest hear of what their leaves cannot explain, once all targets have been counted there.
    bool awake = false;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (ends[i] == 0 || nodes_[ends[i]].pinned || nodes_[ends[i]].is_pure()) continue;
        awake = true;
        walk(learning, targets[i], [&](Node& node) {
            if (node.rests && !node.pinned) count(learning, node, targets[i].outcome);
        });
    }
    if (awake) find_rest(learning.criterion);
}

// Visits the nodes from the root to the leaf that the target reaches, which is returned; the bindings are in `scratch`.
template <class Visit>
std::uint32_t Tree::walk(Learning& learning, Target const& target, Visit&& visit) {
    FactsOnDemand const facts(learning.state);
    Bindings& bindings = learning.scratch.bindings;
    Bindings& extended = learning.scratch.extended;
    bindings.width = target.arguments.size();
    bindings.rows.assign(target.arguments.begin(), target.arguments.end());
    for (std::uint32_t at = 0;;) {
        Node& node = nodes_[at];
        visit(node);
        if (node.is_leaf()) return at;
        FactType const& type = learning.codes.types()[node.test.type];
        extend(facts, type, node.test, node.classes, bindings, extended);
        at = extended.size() > 0 ? node.left : node.right;
        if (extended.size() > 0) std::swap(bindings, extended);
    }
}

void Tree::count(Learning& learning, Node& node, std::uint32_t outcome) {
    if (node.n >= most_counted) return;
    if (node.written && node.is_leaf()) {
        node.written = false;
        node.given.clear();
        node.given_n = 0;
    }
    auto const birth = static_cast<std::uint32_t>(std::min<std::uint64_t>(now_, most_counted));
    if (node.is_leaf() || learning.settings.branch_updates)
        NodeCounter(learning, node, learning.scratch.bindings, outcome, birth).count();
    if (node.totals[outcome]++ == 0) node.look_again = 0;  // new kinds of outcomes make others more surprising
    ++node.n;
    if (learning.criterion.weighs_evidence()) node.together.add(counted_, outcome, node.totals.size());
    node.bound += learning.criterion.largest_gain();
}

// ---- seeding ----

void Tree::make_fresh(std::uint32_t at) {
    nodes_[at].stage = Node::Stage::fresh;
    nodes_[at].touched = 0;  // whoever came by a pinned leaf was not counted there
    fresh_.push_back(at);
}

void Tree::seed(Learning& learning, std::span<Target const> targets) {
    ++counted_;
    for (Target const& target : targets)
        walk(learning, target, [&](Node& node) {
            if (node.stage == Node::Stage::fresh) count(learning, node, target.outcome);
        });
}

void Tree::end_seeding(Learning& learning) {
    for (std::uint32_t const at : fresh_) {
        Node& node = nodes_[at];
        if (node.stage != Node::Stage::fresh) continue;  // dropped, or listed twice
        node.stage = Node::Stage::seeded;
        forgotten_ += forget_candidates(learning, node, learning.settings.max_candidates);
    }
    fresh_.clear();
    find_rest(learning.criterion);
}

void Tree::decide_seeded(Learning& learning) {
    // In preorder, so that nothing depends on which places of the list were free.
    std::vector<std::uint32_t> const order = preorder();
    for (std::uint32_t const at : order) {
        if (nodes_[at].stage != Node::Stage::seeded) continue;
        nodes_[at].stage = Node::Stage::grown;
        if (nodes_[at].touched != now_) decide_node(learning, at);
    }
}

std::vector<std::size_t> Tree::seeded() const {
    std::vector<std::size_t> places;
    auto const order = preorder();
    for (std::size_t i = 0; i < order.size(); ++i)
        if (nodes_[order[i]].stage == Node::Stage::seeded) places.push_back(i);
    return places;
}

void Tree::set_seeded(std::vector<std::size_t> const& places) {
    auto const order = preorder();
    for (std::size_t const place : places) {
        if (place >= order.size() || !nodes_[order[place]].is_leaf())
            throw ModelFileError("the model file has a seeded node that is none of its leaves");
        nodes_[order[place]].stage = Node::Stage::seeded;
    }
}

// ---- deciding ----

void Tree::decide(Learning& learning) {
    auto& open = learning.scratch.open;
    open.assign(1, 0);
    while (!open.empty()) {
        std::uint32_t const at = open.back();
        open.pop_back();
        if (nodes_[at].touched != now_ || nodes_[at].rests || decide_node(learning, at) || nodes_[at].is_leaf())
            continue;
        open.push_back(nodes_[at].right);
        open.push_back(nodes_[at].left);
    }
}

// Whether the node was changed. Challengers are scored only when one of them could win: each
// observation adds at most so much to any score, so the last best score gives a bound.
bool Tree::decide_node(Learning& learning, std::uint32_t at) {
    Criterion const& criterion = learning.criterion;
    Node& node = nodes_[at];
    bool const leaf = node.is_leaf();
    if (leaf ? node.pinned || stays_leaf(node) : node.rests || node.held || !learning.settings.branch_updates)
        return false;
    if (criterion.weighs_evidence() && !has_more_to_explain(learning, node)) return false;
    auto const [none, now, to_beat] = standing(learning, node);
    bool const challenged = criterion.surely_better(node.bound + criterion.slack(), to_beat, node.n);
    assert(challenged || !anyone_wins(learning, node, to_beat));
    bool const useless = !leaf && !criterion.worth_keeping(now, none, node.n);
    if (!challenged && !useless) return false;
    double const below = explained_below(learning, at);
    if (challenged) {
        auto const best = best_candidate(learning, node, leaf ? std::nullopt : std::optional(current(node)));
        node.bound = best ? std::max(best->score, none) : none;
        if (best && criterion.surely_better(best->score, to_beat + make_up_for * below, node.n)) {
            adopt(learning, at, best->candidate.block, best->candidate.code, leaf ? Decision::split : Decision::change);
            return true;
        }
    }
    if (!useless || criterion.worth_keeping(now + below, none, node.n)) return false;
    drop_below(at);
    find_rest(learning.criterion);
    node.bound = std::numeric_limits<double>::infinity();  // the test is a candidate again
    report(learning, at, Decision::back);
    return true;
}

// What the tests below explain, beyond what the branch's own does, for as many as it has counted. A change of test
// throws it away, so a challenger must make up for a part of it: else tests that are equally good, of which each
// needs the others below it, would take turns for ever.
double Tree::explained_below(Learning& learning, std::uint32_t at) const {
    if (nodes_[at].is_leaf() || !learning.criterion.weighs_evidence()) return 0;
    Log explained = 0;
    std::uint64_t n = 0;
    std::vector<std::uint32_t> open{nodes_[at].left, nodes_[at].right};
    while (!open.empty()) {
        Node const& node = nodes_[open.back()];
        open.pop_back();
        if (node.is_leaf()) {
            explained += static_cast<Log>(score_without_test(learning, node));
            n += node.n;
        } else {
            explained -= static_cast<Log>(price_of_test(learning, node));
            open.insert(open.end(), {node.right, node.left});
        }
    }
    if (n == 0) return 0;
    double const here = static_cast<double>(explained) * static_cast<double>(nodes_[at].n) / static_cast<double>(n);
    return std::max(0.0, here - score_of_test(learning, nodes_[at]));
}

void Tree::adopt(Learning& learning, std::uint32_t at, std::size_t block, Code code, Decision kind) {
    drop_below(at);
    Node& node = nodes_[at];
    node.test = test_of(learning.codes, node, {block, code});
    node.test_block = block;
    node.test_code = code;
    if (kind == Decision::change) node.bound = std::numeric_limits<double>::infinity();  // so is the old test
    if (!learning.settings.branch_updates) {
        node.blocks.clear();
        node.candidates = 0;
    }
    add_children(at, learning.codes.types());
    for (std::uint32_t const child : {nodes_[at].left, nodes_[at].right})
        nodes_[child].blocks = make_blocks(learning.codes.types(), nodes_[child].classes);
    if (learning.settings.memory > 0)
        for (std::uint32_t const child : {nodes_[at].left, nodes_[at].right}) make_fresh(child);
    find_rest(learning.criterion);
    report(learning, at, kind);
}

void Tree::add_children(std::uint32_t at, std::vector<FactType> const& types) {
    std::vector<ClassId> const classes = nodes_[at].classes;
    std::uint32_t const left = add_node(at, extended_classes(types[nodes_[at].test.type], nodes_[at].test, classes));
    std::uint32_t const right = add_node(at, classes);
    nodes_[at].left = left;
    nodes_[at].right = right;
}

void Tree::report(Learning& learning, std::uint32_t at, Decision kind) const {
    Event event{kind, path(at), std::nullopt, nodes_[at].classes.size()};
    if (kind != Decision::back) event.test = nodes_[at].test;
    learning.events.push_back(std::move(event));
}

// ---- nodes ----

// Where every leaf below has seen one outcome only, another test could not do better, just look better. So nobody
// looks, and nothing is counted for it but what ends the rest.
void Tree::find_rest(Criterion const& criterion) {
    if (!criterion.weighs_evidence()) return;
    std::vector<std::uint32_t> const order = preorder();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
        Node& node = nodes_[*at];
        if (node.is_leaf()) continue;
        auto const explained = [&](Node const& child) {
            return child.is_leaf() ? child.pinned || child.is_pure() : child.rests;
        };
        node.rests = explained(nodes_[node.left]) && explained(nodes_[node.right]);
    }
}

std::uint32_t Tree::add_node(std::uint32_t parent, std::vector<ClassId> classes) {
    Node node;
    node.parent = parent;
    node.depth = nodes_.empty() ? 0 : nodes_[parent].depth + 1;
    node.classes = std::move(classes);
    node.totals.resize(outcomes_.size(), 0);
    if (free_.empty()) {
        nodes_.push_back(std::move(node));
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    std::uint32_t const at = free_.back();
    free_.pop_back();
    nodes_[at] = std::move(node);
    return at;
}

void Tree::drop_below(std::uint32_t at) {
    if (nodes_[at].is_leaf()) return;
    std::vector<std::uint32_t> dropped{nodes_[at].left, nodes_[at].right};
    while (!dropped.empty()) {
        std::uint32_t const each = dropped.back();
        dropped.pop_back();
        if (!nodes_[each].is_leaf()) {
            dropped.push_back(nodes_[each].left);
            dropped.push_back(nodes_[each].right);
        }
        nodes_[each] = Node{};
        free_.push_back(each);
    }
    nodes_[at].left = nodes_[at].right = 0;
    nodes_[at].rests = false;
}

std::uint32_t Tree::answering(std::uint32_t leaf) const {
    while (leaf != 0 && nodes_[leaf].is_empty()) leaf = nodes_[leaf].parent;
    return leaf;
}

std::uint64_t Tree::answer_total(std::uint32_t node) const {
    if (answers_with_all(node)) return std::accumulate(seen_.begin(), seen_.end(), std::uint64_t{0});
    return nodes_[node].n + nodes_[node].given_n;
}

std::string Tree::path(std::uint32_t node) const {
    std::string path;
    for (; node != 0; node = nodes_[node].parent) path += nodes_[nodes_[node].parent].left == node ? 'L' : 'R';
    return {path.rbegin(), path.rend()};
}

std::vector<std::uint32_t> Tree::preorder() const {
    std::vector<std::uint32_t> order, open(varies() ? 1 : 0, 0);
    while (!open.empty()) {
        order.push_back(open.back());
        open.pop_back();
        Node const& node = nodes_[order.back()];
        if (!node.is_leaf()) open.insert(open.end(), {node.right, node.left});
    }
    return order;
}

TreeSnapshot Tree::snapshot(Codes const& codes, bool with_candidates) const {
    auto const order = preorder();
    std::vector<std::size_t> position(nodes_.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    TreeSnapshot snapshot{now_, outcomes_, seen_, {}};
    for (std::uint32_t const at : order) {
        Node const& node = nodes_[at];
        TreeSnapshot::Node copy{{},          {},           node.classes,        {},       {},
                                node.pinned, node.written, !node.given.empty(), node.met, {}};
        for (std::size_t y = 0; y < outcomes_.size(); ++y)
            copy.counts.push_back(node.totals[y] + (node.given.empty() ? 0 : node.given[y]));
        if (!node.is_leaf()) {
            copy.left = position[node.left];
            copy.right = position[node.right];
            copy.test = node.test;
        }
        if (with_candidates) copy.candidates = candidates(codes, node);
        snapshot.nodes.push_back(std::move(copy));
    }
    return snapshot;
}

std::vector<TreeSnapshot::Candidate> Tree::candidates(Codes const& codes, Node const& node) const {
    std::vector<TreeSnapshot::Candidate> all;
    for (std::size_t b = 0; b < node.blocks.size(); ++b) {
        Block const& block = node.blocks[b];
        for (Code code = 0; code < block.stride; ++code) {
            if (block.births[code] == 0) continue;
            all.push_back({test_of(codes, node, {b, code}), {}});
            read_counts(block, code, node.totals, all.back().counts);
        }
    }
    std::sort(all.begin(), all.end(), [&](auto const& a, auto const& b) {
        return canonical_order(codes.types(), node.classes.size(), a.test, b.test) < 0;
    });
    return all;
}

// ---- codes ----

void Tree::recode(Codes const& codes, Recoding const& recoding) {
    auto const& to = recoding.new_code;
    Code size = codes.size(recoding.type);
    for (Code const code : to) size = code == no_code ? size : std::max(size, code + 1);
    std::vector<Count> counts;
    for (Node& node : nodes_) {
        for (std::size_t b = 0; b < node.blocks.size(); ++b) {
            Block& block = node.blocks[b];
            if (block.type != recoding.type || block.stride == 0) continue;
            Block const old = block;
            block.stride = size;
            block.counts.assign(node.totals.size() * size, 0);
            block.births.assign(size, 0);
            block.bits.assign(size / 64 + 1, 0);
            block.version = 0;
            block.pending = block.excluded = false;
            for (Code code = 0; code < old.stride && code < to.size(); ++code) {
                if (old.births[code] == 0) continue;
                if (to[code] == no_code) throw std::logic_error("a candidate's fact has lost its code");
                block.births[to[code]] = old.births[code];
                read_counts(old, code, node.totals, counts);
                for (std::size_t y = 0; y < counts.size(); ++y) block.counts[y * size + to[code]] = counts[y];
            }
            if (!node.is_leaf() && node.test_block == b) node.test_code = to[node.test_code];
        }
    }
}

void Tree::mark_used(std::size_t type, std::vector<bool>& used) const {
    for (Node const& node : nodes_)
        for (Block const& block : node.blocks)
            for (Code code = 0; block.type == type && code < block.stride; ++code)
                if (block.births[code] != 0) used[code] = true;
}

std::size_t Tree::bytes() const {
    std::size_t bytes = sizeof *this + seen_.capacity() * 8 + free_.capacity() * 4;
    for (Vector const& outcome : outcomes_) bytes += sizeof outcome + outcome.capacity() * sizeof(Int);
    bytes += (nodes_.capacity() - nodes_.size()) * sizeof(Node);
    for (Node const& node : nodes_) {
        bytes += sizeof node + node.classes.capacity() * 4 + node.totals.capacity() * 4 + node.together.bytes();
        bytes += (node.given.capacity() + node.met.capacity()) * 8;
        bytes += (node.blocks.capacity() - node.blocks.size()) * sizeof(Block);
        for (Block const& block : node.blocks)
            bytes += sizeof block +
                     (block.rivals[0].capacity() + block.rivals[1].capacity() + block.reads.capacity() +
                      block.counts.capacity() + block.births.capacity()) *
                         4 +
                     block.bits.capacity() * 8;
    }
    return bytes;
}

void recode(std::span<Tree> trees, Codes const& codes, std::vector<Recoding> const& recodings) {
    for (Recoding const& recoding : recodings)
        for (Tree& tree : trees) tree.recode(codes, recoding);
}

void collect_codes(std::span<Tree> trees, Codes& codes) {
    for (std::size_t t = 0; t < codes.types().size(); ++t) {
        if (!codes.crowded(t)) continue;
        std::vector<bool> used(codes.size(t), false);
        for (Tree const& tree : trees) tree.mark_used(t, used);
        recode(trees, codes, {codes.collect(t, std::move(used))});
    }
}

}  // namespace treethink
