#include "learning/candidates.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "learning/context.hpp"
#include "learning/node.hpp"

namespace treethink {

// ---- counters ----

void BlockCounters::grow(Codes const& all_codes, std::size_t type, std::size_t outcomes) {
    Code const size = all_codes.size(type);
    index_columns();
    if (size > column_of.size()) {
        // Interned codes grow one by one; leave room.
        std::size_t const room = all_codes.arithmetic(type) ? size : size + size / 2;
        column_of.resize(room, kNoColumn);
    }
    fit_outcomes(outcomes);
}

// Counters are most of a model. Where outcomes keep being new, doubling would keep room for as many again.
void BlockCounters::fit_outcomes(std::size_t outcomes) {
    std::size_t const size = outcomes * stride;
    if (counts.size() >= size) return;
    if (counts.capacity() < size) counts.reserve(size + outcomes / 8 * stride);
    counts.resize(size, 0);
}

void BlockCounters::index_columns() {
    if (!column_of.empty() || codes.empty()) return;
    std::size_t const size = std::size_t{*std::max_element(codes.begin(), codes.end())} + 1;
    column_of.assign(size, kNoColumn);
    for (std::size_t column = 0; column < codes.size(); ++column)
        column_of[codes[column]] = static_cast<Column>(column);
}

BlockCounters::Column BlockCounters::find_column(Code code) const {
    if (!column_of.empty()) return code < column_of.size() ? column_of[code] : kNoColumn;
    auto const place = std::find(codes.begin(), codes.end(), code);
    return place == codes.end() ? kNoColumn : static_cast<Column>(place - codes.begin());
}

namespace {

// Columns that there is room for at least. Where outcomes are many, a column is long.
std::size_t min_columns(std::size_t outcomes) { return outcomes > 32 ? 1 : 8; }

}  // namespace

void BlockCounters::set_stride(std::size_t new_stride) {
    std::size_t const outcomes = stride == 0 ? 0 : counts.size() / stride;
    std::vector<Count> new_counts(outcomes * new_stride, 0);
    for (std::size_t y = 0; y < outcomes; ++y)
        std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(y * stride), codes.size(),
                    new_counts.begin() + static_cast<std::ptrdiff_t>(y * new_stride));
    counts = std::move(new_counts);
    stride = new_stride;
}

BlockCounters::Column BlockCounters::add(Code code, std::uint32_t birth, std::size_t outcomes) {
    if (codes.size() == stride)
        set_stride(std::max(min_columns(outcomes), stride + std::max<std::size_t>(1, stride / 2)));
    auto const column = static_cast<Column>(codes.size());
    codes.push_back(code);
    births.push_back(birth);
    if (!column_of.empty()) column_of[code] = column;
    return column;
}

void BlockCounters::apply_pending(Counts totals) {
    if (!has_pending) return;
    fit_outcomes(totals.size());
    true_codes.each([&](Code code) {
        Column const column = column_of[code];
        for (std::size_t y = 0; y < totals.size(); ++y) counts[y * stride + column] += totals[y];
    });
    true_codes.clear();
    excluded.clear();
    truth_version = kNoVersion;
    has_pending = false;
}

void BlockCounters::read_column(Column column, Counts totals, std::vector<Count>& out) const {
    out.resize(totals.size());
    Code const code = codes[column];
    bool const pending = true_codes.contains(code);
    for (std::size_t y = 0; y < totals.size(); ++y) {
        std::size_t const at = y * stride + column;
        Count const stored = at < counts.size() ? counts[at] : 0;
        out[y] = stored + (pending ? totals[y] : 0);
    }
}

Count const* BlockCounters::all_counts(Counts totals, std::vector<Count>& room) const {
    bool const complete = counts.size() == totals.size() * stride;
    if (complete && true_codes.empty()) return counts.data();
    room.assign(totals.size() * stride, 0);
    std::copy(counts.begin(), counts.end(), room.begin());
    true_codes.each([&](Code code) {
        Column const column = column_of[code];
        for (std::size_t y = 0; y < totals.size(); ++y) room[y * stride + column] += totals[y];
    });
    return room.data();
}

void BlockCounters::recode(std::vector<Code> const& new_code, Code size, Counts totals) {
    apply_pending(totals);
    truth_version = kNoVersion;
    for (Code& code : codes) {
        code = new_code[code];
        if (code == no_code) throw std::logic_error("a candidate's fact has lost its code");
    }
    true_codes = {};
    if (column_of.empty()) return;
    column_of.assign(size, kNoColumn);
    for (std::size_t column = 0; column < codes.size(); ++column)
        column_of[codes[column]] = static_cast<Column>(column);
}

void BlockCounters::merge_outcomes(std::vector<std::uint32_t> const& new_place, std::size_t outcomes, Counts totals) {
    apply_pending(totals);
    truth_version = kNoVersion;
    std::vector<Count> merged(outcomes * stride, 0);
    for (std::size_t y = 0; (y + 1) * stride <= counts.size() && stride > 0; ++y)
        for (std::size_t i = 0; i < size(); ++i) merged[new_place[y] * stride + i] += counts[y * stride + i];
    counts = std::move(merged);
}

void BlockCounters::erase(std::span<Code const> unwanted, Counts totals) {
    apply_pending(totals);
    truth_version = kNoVersion;  // so that the whole truth is followed again
    index_columns();
    for (Code const code : unwanted) column_of[code] = kNoColumn;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i) kept += column_of[codes[i]] != kNoColumn;
    // The limit falls while a rule grows: keep only the room that candidates need until the next are dropped.
    std::size_t const room = std::max(min_columns(totals.size()), kept + kept / 4);
    std::size_t const outcomes = stride == 0 ? 0 : counts.size() / stride;
    std::size_t const old_stride = std::exchange(stride, std::min(stride, room));
    // Counters move to the front of their rows, and rows to the front: each to where everything has been read already.
    for (std::size_t y = 0; y < outcomes; ++y) {
        std::size_t to = y * stride;
        for (std::size_t i = 0; i < size(); ++i)
            if (column_of[codes[i]] != kNoColumn) counts[to++] = counts[y * old_stride + i];
        std::fill(counts.begin() + static_cast<std::ptrdiff_t>(to),
                  counts.begin() + static_cast<std::ptrdiff_t>((y + 1) * stride), Count{0});
    }
    counts.resize(outcomes * stride);
    if (stride < old_stride) counts.shrink_to_fit();
    Column column = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        if (column_of[codes[i]] == kNoColumn) continue;
        codes[column] = codes[i];
        births[column] = births[i];
        column_of[codes[column]] = column;
        ++column;
    }
    codes.resize(kept);
    births.resize(kept);
}

std::size_t BlockCounters::bytes() const {
    std::size_t const words = column_of.capacity() + codes.capacity() + births.capacity() + counts.capacity();
    return words * 4 + excluded.capacity() * sizeof(Code) + true_codes.bytes();
}

// ---- candidates ----

BlockCounters& Candidates::find_or_make(std::size_t block) {
    if (place_of_.empty()) place_of_.assign(table_->size(), kNoPlace);
    if (place_of_[block] == kNoPlace) {
        counters_.emplace_back();
        place_of_[block] = static_cast<std::uint32_t>(counters_.size() - 1);
    }
    return counters_[place_of_[block]];
}

void Candidates::wake(Codes const& codes) {
    std::uint64_t const before = std::exchange(counted_in_, codes.step());
    if (quiet_.empty()) return quiet_.assign(table_->words(), 0);
    if (before == counted_in_) return;
    for (std::size_t slot = 0; slot < table_->slots(); ++slot) {
        if (codes.changed_in(SlotId(slot)) <= before) continue;
        auto const blocks = table_->blocks_about(SlotId(slot));
        for (std::size_t w = 0; w < blocks.size(); ++w) quiet_[w] &= ~blocks[w];
    }
}

std::uint64_t Candidates::drop_blocks(std::vector<bool> const& unwanted) {
    quiet_.clear();
    std::uint64_t dropped = 0;
    std::vector<BlockCounters> kept;
    for (std::size_t block = 0; block < place_of_.size(); ++block) {
        BlockCounters* const counters = find(block);
        if (counters == nullptr) continue;
        if (unwanted[block]) {
            dropped += counters->size();
            place_of_[block] = kNoPlace;
        } else {
            kept.push_back(std::move(*counters));
            place_of_[block] = static_cast<std::uint32_t>(kept.size() - 1);
        }
    }
    counters_ = std::move(kept);
    size -= dropped;
    return dropped;
}

std::size_t Candidates::bytes() const {
    std::size_t bytes = counters_.capacity() * sizeof(BlockCounters) + place_of_.capacity() * sizeof(std::uint32_t);
    bytes += quiet_.capacity() * sizeof quiet_[0];
    for (BlockCounters const& counters : counters_) bytes += counters.bytes();
    return bytes;
}

void mark_used_codes(Candidates const& candidates, std::size_t type, std::vector<bool>& used) {
    candidates.each([&](std::size_t block, BlockCounters const& counters) {
        if (candidates.table()[block].type != type) return;
        for (Code const code : counters.codes) used[code] = true;
    });
}

// ---- tests ----

namespace {

// Sum of magnitudes; the largest number if it does not fit.
std::uint64_t l1_norm(VectorView value) {
    constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t sum = 0;
    for (Int const each : value) {
        std::uint64_t const size = magnitude(each);
        sum = sum > max - size ? max : sum + size;
    }
    return sum;
}

}  // namespace

Log description_length(Codes const& codes, Block const& block, Code code) {
    return block.description_length + length_of_value(codes.value(block.type, code));
}

Log length_of_test(Codes const& codes, Node const& branch) {
    if (branch.uncounted_test.in_place()) return branch.uncounted_test.description_length;
    auto const [block, code] = branch.test_candidate;
    return description_length(codes, branch.candidates.table()[block], code);
}

void read_test_counts(Node const& branch, std::vector<Count>& out) {
    auto const [block, code] = branch.test_candidate;
    if (branch.uncounted_test.in_place())
        out = branch.uncounted_test.counts;
    else
        branch.candidates.find(block)->read_counts(code, branch.stats.totals, out);
}

Test test_of(Codes const& codes, Node const& node, CandidateId candidate) {
    Block const& block = node.candidates.table()[candidate.block];
    return {block.type, block.variables, codes.value(block.type, candidate.code)};
}

std::strong_ordering canonical_order(std::vector<FactType> const& types, std::size_t variables, Test const& a,
                                     Test const& b) {
    FactType const& x = types[a.type];
    FactType const& y = types[b.type];
    auto const cost_a = cost_of(x, new_variables(x, a, variables)), cost_b = cost_of(y, new_variables(y, b, variables));
    if (cost_a != cost_b) return cost_a <=> cost_b;
    if (auto const order = l1_norm(a.value) <=> l1_norm(b.value); order != 0) return order;
    if (auto const order = a.type <=> b.type; order != 0) return order;
    for (std::size_t k = 0; k < x.arity; ++k)
        if (auto const order = a.variables[k] <=> b.variables[k]; order != 0) return order;
    return a.value <=> b.value;
}

// ---- forgetting ----

namespace {

struct Entry {
    std::uint64_t rank;  // how often it was true, then its birth
    std::uint32_t block;
    Code code;

    [[nodiscard]] CandidateId id() const { return {block, code}; }
};

// How often each candidate of a block was true. That fits 32 bits as a node's counts do, so pending totals may be added
// modulo 2^32, and at last.
void sum_counts(BlockCounters const& block, Counts totals, std::vector<Count>& times_true) {
    times_true.assign(block.size(), 0);
    std::size_t const outcomes = block.stride == 0 ? 0 : block.counts.size() / block.stride;
    for (std::size_t y = 0; y < outcomes; ++y) {
        Count const* const row = block.counts.data() + y * block.stride;
        for (std::size_t i = 0; i < times_true.size(); ++i) times_true[i] += row[i];
    }
    Count const all = std::accumulate(totals.begin(), totals.end(), Count{0});
    block.true_codes.each([&](Code code) { times_true[block.column_of[code]] += all; });
}

// All candidates but the test in place.
std::vector<Entry> removable_candidates(LearningContext& context, Node const& node) {
    std::vector<Entry> entries;
    entries.reserve(node.candidates.size);
    auto& times_true = context.scratch.counts;
    node.candidates.each([&](std::size_t b, BlockCounters const& block) {
        sum_counts(block, node.stats.totals, times_true);
        bool const has_test = !node.is_leaf() && node.test_candidate.block == b;
        for (std::size_t i = 0; i < block.size(); ++i) {
            if (has_test && node.test_candidate.code == block.codes[i]) continue;
            std::uint64_t const rank = std::uint64_t{times_true[i]} << 32 | block.births[i];
            entries.push_back({rank, static_cast<std::uint32_t>(b), block.codes[i]});
        }
    });
    return entries;
}

/// A candidate with what canonical order asks for first.
struct TiedEntry {
    std::size_t cost;
    std::uint64_t size;  // of its value
    Entry entry;
};

// Whether one goes before another because it is less preferred: canonical order backwards, without making the tests.
// Blocks are in the order of their types and variables.
bool goes_first(Codes const& codes, BlockTable const& table, TiedEntry const& a, TiedEntry const& b) {
    if (a.cost != b.cost) return a.cost > b.cost;
    if (a.size != b.size) return a.size > b.size;
    if (a.entry.block != b.entry.block) return a.entry.block > b.entry.block;
    std::size_t const type = table[a.entry.block].type;
    return codes.value(type, a.entry.code) > codes.value(type, b.entry.code);
}

// Moves the `n` entries of lowest rank to the front. Canonical order is only asked for entries whose rank is that of
// the cut (the less preferred go first): there are many candidates, and comparing tests is slow.
void put_least_first(LearningContext& context, Node const& node, std::vector<Entry>& entries, std::uint64_t n) {
    if (n >= entries.size()) return;
    auto const at = [&](std::uint64_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(entries.begin(), at(n), entries.end(), [](auto& a, auto& b) { return a.rank < b.rank; });
    std::uint64_t const cut = at(n)->rank;
    auto const tied = std::partition(entries.begin(), at(n), [&](auto& each) { return each.rank < cut; });
    auto const end = std::partition(at(n), entries.end(), [&](auto& each) { return each.rank == cut; });
    Codes const& codes = context.codes;
    BlockTable const& table = node.candidates.table();
    std::vector<TiedEntry> candidates;
    candidates.reserve(static_cast<std::size_t>(end - tied));
    Vector value;
    for (auto each = tied; each != end; ++each) {
        Block const& block = table[each->block];
        std::size_t const introduced = static_cast<std::size_t>(block.is_new[0]) + block.is_new[1];
        codes.read_value(block.type, each->code, value);
        candidates.push_back({cost_of(codes.types()[block.type], introduced), l1_norm(value), *each});
    }
    std::nth_element(candidates.begin(), candidates.begin() + (at(n) - tied), candidates.end(),
                     [&](auto& a, auto& b) { return goes_first(codes, table, a, b); });
    std::transform(candidates.begin(), candidates.end(), tied, [](auto& each) { return each.entry; });
}

}  // namespace

bool NodeShare::includes(Node const& node, std::size_t block) const {
    return block < blocks || (!node.is_leaf() && block == node.test_candidate.block);
}

NodeShare share_of_node(LearningContext const& context, std::size_t nodes, std::size_t outcomes) {
    std::uint64_t const rules = std::max<std::size_t>(1, context.varying_rules);
    std::uint64_t const counters = context.settings.max_counters / rules / nodes;
    std::uint64_t const candidates =
        counters / (outcomes * std::max<std::uint64_t>(1, outcomes * rules / few_outcomes));
    return {std::max<std::uint64_t>(1, candidates), std::min(candidates, counters / (outcomes + counters_per_block))};
}

std::uint64_t candidate_limit(LearningContext const& context, Node const& node, std::size_t nodes,
                              NodeShare const& share) {
    std::uint64_t const by_objects =
        candidates_per_object * std::max<std::uint64_t>(min_objects, context.state.roster()->size());
    std::uint64_t const counters = std::min(max_node_counters, max_rule_counters / nodes);
    std::uint64_t const by_counters = counters / std::max<std::size_t>(1, node.stats.totals.size());
    return std::min(
        {context.settings.max_candidates, by_objects, std::max<std::uint64_t>(1, by_counters), share.candidates});
}

namespace {

// Drops the counters of blocks that the node does not count in any more, and of those without a candidate.
std::uint64_t drop_blocks(Node& node, NodeShare const& share) {
    Candidates& candidates = node.candidates;
    std::vector<bool> unwanted(candidates.table().size(), false);
    bool any = false;
    std::as_const(candidates).each([&](std::size_t block, BlockCounters const& counters) {
        bool const of_test = !node.is_leaf() && block == node.test_candidate.block;
        unwanted[block] = !share.includes(node, block) || (counters.size() == 0 && !of_test);
        any = any || unwanted[block];
    });
    return any ? candidates.drop_blocks(unwanted) : 0;
}

// Drops the least useful candidates where there are more than the limit.
std::uint64_t drop_surplus(LearningContext& context, Node& node, std::uint64_t limit) {
    Candidates& candidates = node.candidates;
    std::vector<Entry> entries = removable_candidates(context, node);
    std::uint64_t const surplus = std::min<std::uint64_t>(candidates.size - (limit - limit / 8), entries.size());
    put_least_first(context, node, entries, surplus);
    std::vector<Code> codes;  // of one block
    auto const end = entries.begin() + static_cast<std::ptrdiff_t>(surplus);
    std::sort(entries.begin(), end, [](Entry const& a, Entry const& b) { return a.block < b.block; });
    for (auto each = entries.begin(); each != end;) {
        std::uint32_t const block = each->block;
        codes.clear();
        for (; each != end && each->block == block; ++each) codes.push_back(each->code);
        candidates.find(block)->erase(codes, node.stats.totals);
    }
    candidates.wake_all();
    candidates.size -= surplus;
    return surplus;
}

}  // namespace

std::uint64_t forget_candidates(LearningContext& context, Node& node, std::size_t nodes, NodeShare const& share) {
    if (!node.candidates.are_counted()) return 0;
    bool const narrow = share.blocks < node.candidates.table().size();
    std::uint64_t dropped = narrow ? drop_blocks(node, share) : 0;
    std::uint64_t const limit = candidate_limit(context, node, nodes, share);
    if (node.candidates.size <= limit) return dropped;
    dropped += drop_surplus(context, node, limit);
    if (narrow) drop_blocks(node, share);
    return dropped;
}

}  // namespace treethink
