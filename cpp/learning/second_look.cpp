#include "learning/second_look.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "learning/replay.hpp"

namespace treethink {

namespace {

// Groundings that a look may examine, of one block and of all: what needs more is passed over.
constexpr std::uint64_t max_block_groundings = std::uint64_t{1} << 16;
constexpr std::uint64_t max_groundings = std::uint64_t{1} << 19;
// Part of what the tests below a branch explain that a challenger must make up for, as in tree.cpp.
constexpr double share_to_make_up = 1.0 / 16;

/// Of two candidates whose net scores may be equal: the higher score, then canonical order.
bool is_better(std::vector<FactType> const& types, std::size_t variables, UncountedCandidate const& a,
               UncountedCandidate const& b) {
    if (a.net_score != b.net_score) return a.net_score > b.net_score;
    if (a.score != b.score) return a.score > b.score;
    return canonical_order(types, variables, a.test, b.test) < 0;
}

/// Evaluates the tests of one block over the targets of a look.
class BlockLook {
public:
    BlockLook(LearningContext const& context, std::vector<ClassId> const& classes, UncountedBlock const& block,
              std::span<KeptTarget const> targets, LookSample const& sample)
        : context_(context), types_(context.codes.types()), type_(types_[block.type]), classes_(classes), block_(block),
          targets_(targets), sample_(sample), value_(type_.value_length), swapped_(type_.value_length) {
        for (std::size_t k = 0; k < type_.arity; ++k) is_new_[k] = block.variables[k] >= classes.size();
        for (std::uint32_t v = 0; v < classes.size(); ++v) {
            bool const read = std::any_of(block.variables.begin(), block.variables.begin() + arity(),
                                          [&](auto each) { return each == v; });
            if (read || is_excluded_from(0, v) || is_excluded_from(1, v)) read_.push_back(v);
        }
    }

    /// How many groundings there are to examine.
    [[nodiscard]] std::uint64_t groundings() {
        std::uint64_t sum = 0;
        for (KeptTarget const& target : targets_) {
            std::uint64_t product = distinct_bindings(target.bindings).size();
            for (std::size_t k = 0; k < type_.arity; ++k)
                if (is_new_[k]) product *= target.before->rows(type_.classes[k]);
            sum += product;
            if (sum > max_block_groundings) break;
        }
        return sum;
    }

    /// Offers every test of the block to `best`.
    void offer_to(std::optional<UncountedCandidate>& best) {
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            found_.clear();
            collect(targets_[t]);
            for (std::size_t const value : found_) ++counts_[value][sample_.outcomes[t]];
        }
        if (type_.kind->cumulative())
            offer_cumulative(best);
        else
            for (std::size_t v = 0; v < values_.size(); ++v) offer(values_[v], counts_[v], best);
    }

private:
    [[nodiscard]] std::ptrdiff_t arity() const { return static_cast<std::ptrdiff_t>(type_.arity); }
    [[nodiscard]] bool is_excluded_from(std::size_t k, std::uint32_t v) const {
        return k < type_.arity && is_new_[k] && classes_[v] == type_.classes[k];
    }

    // One binding for each choice of the objects that the block reads.
    std::vector<std::uint32_t> const& distinct_bindings(Bindings const& bindings) {
        chosen_.resize(read_.empty() ? 1 : bindings.size());
        std::iota(chosen_.begin(), chosen_.end(), 0u);
        if (chosen_.size() == 1) return chosen_;
        auto const compare = [&](std::uint32_t a, std::uint32_t b) -> std::strong_ordering {
            for (std::uint32_t const v : read_)
                if (auto const order = bindings[a][v] <=> bindings[b][v]; order != 0) return order;
            return std::strong_ordering::equal;
        };
        std::sort(chosen_.begin(), chosen_.end(), [&](auto a, auto b) { return compare(a, b) < 0; });
        auto const same = [&](auto a, auto b) { return compare(a, b) == 0; };
        chosen_.erase(std::unique(chosen_.begin(), chosen_.end(), same), chosen_.end());
        return chosen_;
    }

    // Finds the values that hold for a target; of a cumulative kind the smallest of them.
    void collect(KeptTarget const& target) {
        for (std::uint32_t const i : distinct_bindings(target.bindings)) {
            std::span<Row const> const binding = target.bindings[i];
            each_row(target, binding, 0, [&](Row x) {
                if (type_.arity == 1) return add(*target.before, x, x);
                each_row(target, binding, 1, [&](Row y) {
                    if (!type_.same_class() || x != y) add(*target.before, x, y);
                });
            });
        }
    }

    // Calls visit(row) for the objects that argument `k` may be.
    template <class Visit>
    void each_row(KeptTarget const& target, std::span<Row const> binding, std::size_t k, Visit const& visit) const {
        if (!is_new_[k]) return visit(binding[block_.variables[k]]);
        std::size_t const rows = target.before->rows(type_.classes[k]);
        for (Row row = 0; row < rows; ++row) {
            bool taken = false;
            for (std::uint32_t const v : read_) taken |= is_excluded_from(k, v) && binding[v] == row;
            if (!taken) visit(row);
        }
    }

    void add(State const& state, Row x, Row y) {
        VectorView const second = type_.terms == 2 ? state.value(type_.slots[1], y) : VectorView{};
        if (!type_.kind->value(state.value(type_.slots[0], x), second, value_.data())) return;
        VectorView value = value_.view();
        if (type_.unordered() && is_new_[0]) {  // two new objects: the greater value of both directions
            std::copy(value.begin(), value.end(), swapped_.data());
            type_.kind->swap(swapped_.data(), type_.value_length);
            if (less(value, swapped_.view())) value = swapped_.view();
        }
        if (type_.kind->cumulative() && !found_.empty()) {
            if (!less(value, values_[found_.front()])) return;
            found_.clear();
        }
        std::size_t const place = find_or_add(value);
        if (std::find(found_.begin(), found_.end(), place) == found_.end()) found_.push_back(place);
    }

    std::size_t find_or_add(VectorView value) {
        for (std::size_t v = 0; v < values_.size(); ++v)
            if (same(values_[v], value)) return v;
        values_.emplace_back(value.begin(), value.end());
        counts_.emplace_back(sample_.stats.totals.size(), Count{0});
        return values_.size() - 1;
    }

    // With a value between two that came, a test holds wherever it holds with the lower one: the shortest is taken.
    void offer_cumulative(std::optional<UncountedCandidate>& best) {
        std::vector<std::size_t> order(values_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values_[a] < values_[b]; });
        std::vector<Count> counts(sample_.stats.totals.size(), 0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (std::size_t y = 0; y < counts.size(); ++y) counts[y] += counts_[order[i]][y];
            Int const low = values_[order[i]][0];
            Int const high = i + 1 < order.size() ? values_[order[i + 1]][0] - 1 : std::numeric_limits<Int>::max();
            offer({std::clamp<Int>(0, low, high)}, counts, best);
        }
    }

    void offer(Vector const& value, std::vector<Count> const& counts, std::optional<UncountedCandidate>& best) {
        Log const length = block_.description_length + length_of_value(value);
        double const score = context_.criterion.score(counts, sample_.sample());
        double const net = score - static_cast<double>(length);
        if (best && net < best->net_score) return;
        UncountedCandidate candidate{{block_.type, block_.variables, value}, length, net, score, counts};
        if (!best || is_better(types_, classes_.size(), candidate, *best)) best = std::move(candidate);
    }

    LearningContext const& context_;
    std::vector<FactType> const& types_;
    FactType const& type_;
    std::vector<ClassId> const& classes_;
    UncountedBlock const& block_;
    std::span<KeptTarget const> targets_;
    LookSample const& sample_;
    std::array<bool, 2> is_new_{};
    std::vector<std::uint32_t> read_;         // variables whose objects decide which tests hold
    std::vector<Vector> values_;              // that came
    std::vector<std::vector<Count>> counts_;  // by value, by outcome: targets for which it held
    std::vector<std::size_t> found_;          // values of the current target
    std::vector<std::uint32_t> chosen_;
    Buffer value_, swapped_;
};

}  // namespace

LookSample::LookSample(std::span<KeptTarget const> targets, Criterion const& criterion) {
    std::vector<std::uint32_t> known;
    for (KeptTarget const& target : targets) {
        auto const place = std::find(known.begin(), known.end(), target.outcome);
        outcomes.push_back(static_cast<std::uint32_t>(place - known.begin()));
        if (place == known.end()) known.push_back(target.outcome);
    }
    stats.totals.assign(known.size(), 0);
    stats.n = targets.size();
    for (std::size_t t = 0; t < targets.size(); ++t) {
        ++stats.totals[outcomes[t]];
        criterion.count_cluster(stats.clusters, targets[t].transition, outcomes[t], known.size());
    }
    stats.design_effect = stats.clusters.design_effect(stats.totals, stats.n);
}

// ---- tests ----

bool takes_second_looks(LearningContext const& context) {
    return context.settings.memory > 0 && context.settings.branch_updates && context.criterion.looks_ahead() &&
           context.codes.types().size() > context.codes.counted_types();
}

std::uint64_t look_level(std::uint64_t targets) {
    if (targets < 2) return targets;
    auto const exponent = static_cast<unsigned>(std::bit_width(targets)) - 1;
    return std::uint64_t{2} * exponent + (targets >> (exponent - 1) & 1);
}

Log length_of_uncounted_test(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                             Test const& test) {
    for (UncountedBlock const& block : uncounted_blocks(types, classes))
        if (block.type == test.type && block.variables == test.variables)
            return block.description_length + length_of_value(test.value);
    return 0;
}

std::optional<UncountedCandidate> best_uncounted_test(LearningContext const& context,
                                                      std::vector<ClassId> const& classes,
                                                      std::span<KeptTarget const> targets, LookSample const& sample) {
    std::optional<UncountedCandidate> best;
    std::uint64_t groundings = 0;
    for (UncountedBlock const& block : uncounted_blocks(context.codes.types(), classes)) {
        BlockLook look(context, classes, block, targets, sample);
        std::uint64_t const more = look.groundings();
        if (more > max_block_groundings || groundings + more > max_groundings) continue;
        groundings += more;
        look.offer_to(best);
    }
    return best;
}

// ---- nodes ----

std::vector<NodeId> SecondLook::take_nodes() {
    std::vector<NodeId> const waiting = std::exchange(tree_.awaiting_look_, {});
    std::vector<NodeId> nodes = tree_.preorder();
    std::erase_if(nodes, [&](NodeId at) { return std::find(waiting.begin(), waiting.end(), at) == waiting.end(); });
    return nodes;
}

double SecondLook::threshold(NodeId at, std::vector<Count> const& counts, Sample const& sample) const {
    Criterion const& criterion = context_.criterion;
    Node const& node = tree_.nodes_[at];
    double const score = criterion.score(counts, sample);
    if (node.is_leaf()) return criterion.threshold(counts, sample, score);
    double const net = score - static_cast<double>(length_of_test(context_.codes, node));
    auto const targets = std::accumulate(sample.totals.begin(), sample.totals.end(), std::uint64_t{0});
    double const below = criterion.explained_below(context_.codes, tree_.nodes_, at) * static_cast<double>(targets) /
                         static_cast<double>(node.stats.n);
    return criterion.threshold(counts, sample, net) + share_to_make_up * below;
}

bool SecondLook::is_worth_while(NodeId at) const {
    Node const& node = tree_.nodes_[at];
    NodeStats const& stats = node.stats;
    bool const fixed = node.edits.pinned || node.edits.hand_written || node.edits.held || node.settled;
    bool const full = node.depth >= max_depth || node.variable_classes.size() >= max_variables;
    if (fixed || full || stats.is_pure() || !node.candidates.are_counted()) return false;
    std::vector<Count> counts(stats.totals.size(), 0);
    if (!node.is_leaf()) read_test_counts(node, counts);
    Sample const sample{stats.totals, stats.clusters.design_effect(stats.totals, stats.n)};
    return context_.criterion.surely_better(0, threshold(at, counts, sample), stats.n);
}

bool SecondLook::decide(NodeId at, std::span<KeptTarget const> targets) {
    if (targets.empty()) return false;
    Node const& node = tree_.nodes_[at];
    LookSample const sample(targets, context_.criterion);
    auto found = best_uncounted_test(context_, node.variable_classes, targets, sample);
    if (!found) return false;
    double const to_beat = threshold(at, counts_in_place(node, targets, sample), sample.sample());
    if (!context_.criterion.surely_better(found->net_score, to_beat, sample.stats.n)) return false;
    set_test(at, std::move(*found));
    return true;
}

// How often the test in place held in the sample, by outcome.
std::vector<Count> SecondLook::counts_in_place(Node const& node, std::span<KeptTarget const> targets,
                                               LookSample const& sample) const {
    std::vector<Count> counts(sample.stats.totals.size(), 0);
    if (node.is_leaf()) return counts;
    Bindings extended;
    std::vector<FactType> const& types = context_.codes.types();
    for (std::size_t t = 0; t < targets.size(); ++t) {
        extend(FactsOnDemand(*targets[t].before), types[node.test.type], node.test, node.variable_classes,
               targets[t].bindings, extended);
        counts[sample.outcomes[t]] += extended.size() > 0;
    }
    return counts;
}

// set_test(node, test):
//     drop everything below the node, and what it has counted
//     the node asks `test` from now on; it and its new children count what is kept
void SecondLook::set_test(NodeId at, UncountedCandidate found) {
    std::vector<FactType> const& types = context_.codes.types();
    Decision const kind = tree_.nodes_[at].is_leaf() ? Decision::split : Decision::change;
    tree_.remove_children(at);
    Node& node = tree_.nodes_[at];
    node.test = std::move(found.test);
    node.test_candidate = {*find_block(types, node.variable_classes, node.test), no_code};
    node.uncounted_test = {std::vector<Count>(node.stats.totals.size(), 0), found.description_length};
    node.stats = {};
    node.fit_outcomes(tree_.outcomes_.size());
    node.candidates.stop();
    tree_.count_candidates(at, types);
    tree_.add_children(at, types);
    for (NodeId const child : {tree_.nodes_[at].left, tree_.nodes_[at].right}) {
        tree_.count_candidates(child, types);
        TreeReplay(tree_).add(child);
    }
    TreeReplay(tree_).add(at);
    context_.criterion.update_settled(tree_.nodes_);
    tree_.record_event(context_, at, kind);
}

}  // namespace treethink
