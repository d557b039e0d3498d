#include "learning/candidates.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <stdexcept>
#include <utility>

#include "learning/context.hpp"
#include "learning/node.hpp"

namespace treethink {

// ---- blocks ----

namespace {

// A test is described in two parts: its block, and its value (length_of_value). Blocks share one prior: the share
// halves for each new variable, for each that is not tied to an older one, and for an absolute vector. So rules come
// out as a person would write them.
void set_description_lengths(std::vector<FactType> const& types, std::vector<Block>& blocks) {
    auto const share = [&](Block const& block) {
        FactType const& type = types[block.type];
        std::size_t const introduced = static_cast<std::size_t>(block.is_new[0]) + (type.arity == 2 && block.is_new[1]);
        return std::uint64_t{1} << (max_cost - cost_of(type, introduced));
    };
    std::uint64_t all = 0;
    for (Block const& block : blocks) all += share(block);
    for (Block& block : blocks)
        block.description_length = log_of(static_cast<double>(all)) - log_of(static_cast<double>(share(block)));
}

Block make_block(std::vector<FactType> const& types, std::vector<ClassId> const& classes, std::size_t type_id,
                 std::array<std::uint32_t, 2> variables) {
    FactType const& type = types[type_id];
    auto const n = static_cast<std::uint32_t>(classes.size());
    Block block;
    block.type = type_id;
    block.variables = variables;
    std::vector<bool> read(n, false);
    std::size_t introduced = 0;
    for (std::size_t k = 0; k < type.arity; ++k) {
        block.is_new[k] = variables[k] >= n;
        introduced += block.is_new[k];
        if (!block.is_new[k]) read[variables[k]] = true;
        for (std::uint32_t v = 0; v < n && block.is_new[k]; ++v) {
            if (classes[v] != type.classes[k]) continue;
            block.same_class_variables[k].push_back(v);
            read[v] = true;
        }
    }
    for (std::uint32_t v = 0; v < n; ++v)
        if (read[v]) block.read_variables.push_back(v);
    block.mentions = introduced == 0            ? Block::Mentions::bound
                     : introduced == type.arity ? Block::Mentions::only_new
                                                : Block::Mentions::bound_and_new;
    return block;
}

}  // namespace

namespace {

using Variables = std::array<std::uint32_t, 2>;

// Calls visit(variables) for each block of a fact type, in order.
template <class Visit>
void each_block(FactType const& type, std::vector<ClassId> const& classes, Visit const& visit) {
    auto const n = static_cast<std::uint32_t>(classes.size());
    auto fits = [&](std::uint32_t v, std::size_t k) { return v < n && classes[v] == type.classes[k]; };
    for (std::uint32_t i = 0; i <= n; ++i) {
        if (i < n && !fits(i, 0)) continue;
        if (type.arity == 1) {
            visit(Variables{i, 0});
            continue;
        }
        // Of objects that can change places the older variable comes first, so a new one never stands before an old
        // one.
        for (std::uint32_t j = 0; j < n; ++j)
            if (fits(j, 1) && (type.unordered() ? i < j && i < n : i != j)) visit(Variables{i, j});
        visit(Variables{i, i < n ? n : n + 1});
    }
}

// How many blocks the first `end` fact types have: as many as each_block() visits.
std::size_t count_blocks(std::vector<FactType> const& types, std::size_t end, std::vector<ClassId> const& classes) {
    std::vector<std::size_t> variables;  // by class
    for (ClassId const each : classes) {
        if (variables.size() <= each) variables.resize(each + 1, 0);
        ++variables[each];
    }
    auto const known = [&](ClassId c) { return c < variables.size() ? variables[c] : 0; };
    std::size_t blocks = 0;
    for (std::size_t t = 0; t < end; ++t) {
        FactType const& type = types[t];
        std::size_t const first = known(type.classes[0]);
        if (type.arity == 1)
            blocks += first + 1;
        else if (type.unordered())
            blocks += (first + 1) * first / 2 + 1;
        else if (type.same_class())
            blocks += (first + 1) * first + 1;
        else
            blocks += (first + 1) * (known(type.classes[1]) + 1);
    }
    return blocks;
}

}  // namespace

std::size_t count_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes) {
    return count_blocks(types, types.size(), classes);
}

std::vector<Block> make_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes) {
    std::vector<Block> blocks;
    blocks.reserve(count_blocks(types, classes));
    for (std::size_t t = 0; t < types.size(); ++t)
        each_block(types[t], classes,
                   [&](Variables variables) { blocks.push_back(make_block(types, classes, t, variables)); });
    assert(blocks.size() == count_blocks(types, classes));
    set_description_lengths(types, blocks);
    return blocks;
}

std::optional<std::size_t> find_block(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                                      Test const& test) {
    std::optional<std::size_t> place;
    std::size_t at = count_blocks(types, test.type, classes);
    each_block(types[test.type], classes, [&](Variables variables) {
        if (variables == test.variables) place = at;
        ++at;
    });
    return place;
}

// ---- counters ----

void Block::grow(Codes const& all_codes, std::size_t outcomes) {
    Code const size = all_codes.size(type);
    index_columns();
    if (size > column_of.size()) {
        // Interned codes grow one by one; leave room.
        std::size_t const room = all_codes.arithmetic(type) ? size : size + size / 2;
        column_of.resize(room, kNoColumn);
        true_bits.resize(room / 64 + 1, 0);
    }
    fit_outcomes(outcomes);
}

void Block::index_columns() {
    if (!column_of.empty() || codes.empty()) return;
    std::size_t const size = std::size_t{*std::max_element(codes.begin(), codes.end())} + 1;
    column_of.assign(size, kNoColumn);
    true_bits.assign(size / 64 + 1, 0);
    for (std::size_t column = 0; column < codes.size(); ++column)
        column_of[codes[column]] = static_cast<Column>(column);
}

Block::Column Block::find_column(Code code) const {
    if (!column_of.empty()) return code < column_of.size() ? column_of[code] : kNoColumn;
    auto const place = std::find(codes.begin(), codes.end(), code);
    return place == codes.end() ? kNoColumn : static_cast<Column>(place - codes.begin());
}

void Block::set_stride(std::size_t new_stride) {
    std::size_t const outcomes = stride == 0 ? 0 : counts.size() / stride;
    std::vector<Count> new_counts(outcomes * new_stride, 0);
    for (std::size_t y = 0; y < outcomes; ++y)
        std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(y * stride), codes.size(),
                    new_counts.begin() + static_cast<std::ptrdiff_t>(y * new_stride));
    counts = std::move(new_counts);
    stride = new_stride;
}

Block::Column Block::add(Code code, std::uint32_t birth) {
    if (codes.size() == stride) set_stride(std::max<std::size_t>(8, stride + stride / 2));
    auto const column = static_cast<Column>(codes.size());
    codes.push_back(code);
    births.push_back(birth);
    if (!column_of.empty()) column_of[code] = column;
    return column;
}

void Block::apply_pending(Counts totals) {
    if (!has_pending) return;
    if (counts.size() < totals.size() * stride) counts.resize(totals.size() * stride, 0);
    for (std::size_t w = 0; w < true_bits.size(); ++w) {
        for (std::uint64_t rest = std::exchange(true_bits[w], 0); rest != 0; rest &= rest - 1) {
            Column const column = column_of[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
            for (std::size_t y = 0; y < totals.size(); ++y) counts[y * stride + column] += totals[y];
        }
    }
    truth_version = kNoVersion;
    has_pending = has_exclusions = false;
}

void Block::read_column(Column column, Counts totals, std::vector<Count>& out) const {
    out.resize(totals.size());
    Code const code = codes[column];
    bool const pending = !true_bits.empty() && (true_bits[code / 64] >> (code % 64) & 1) != 0;
    for (std::size_t y = 0; y < totals.size(); ++y) {
        std::size_t const at = y * stride + column;
        Count const stored = at < counts.size() ? counts[at] : 0;
        out[y] = stored + (pending ? totals[y] : 0);
    }
}

Count const* Block::all_counts(Counts totals, std::vector<Count>& room) const {
    bool const complete = counts.size() == totals.size() * stride;
    if (complete && std::all_of(true_bits.begin(), true_bits.end(), [](auto word) { return word == 0; }))
        return counts.data();
    room.assign(totals.size() * stride, 0);
    std::copy(counts.begin(), counts.end(), room.begin());
    for (std::size_t w = 0; w < true_bits.size(); ++w)
        for (std::uint64_t rest = true_bits[w]; rest != 0; rest &= rest - 1) {
            Column const column = column_of[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
            for (std::size_t y = 0; y < totals.size(); ++y) room[y * stride + column] += totals[y];
        }
    return room.data();
}

void Block::recode(std::vector<Code> const& new_code, Code size, Counts totals) {
    apply_pending(totals);
    truth_version = kNoVersion;
    for (Code& code : codes) {
        code = new_code[code];
        if (code == no_code) throw std::logic_error("a candidate's fact has lost its code");
    }
    if (column_of.empty()) return;
    column_of.assign(size, kNoColumn);
    true_bits.assign(size / 64 + 1, 0);
    for (std::size_t column = 0; column < codes.size(); ++column)
        column_of[codes[column]] = static_cast<Column>(column);
}

void Block::merge_outcomes(std::vector<std::uint32_t> const& new_place, std::size_t outcomes, Counts totals) {
    apply_pending(totals);
    truth_version = kNoVersion;
    std::vector<Count> merged(outcomes * stride, 0);
    for (std::size_t y = 0; (y + 1) * stride <= counts.size() && stride > 0; ++y)
        for (std::size_t i = 0; i < size(); ++i) merged[new_place[y] * stride + i] += counts[y * stride + i];
    counts = std::move(merged);
}

void Block::erase(std::vector<Column> const& columns, Counts totals) {
    apply_pending(totals);
    truth_version = kNoVersion;  // so that the whole truth is followed again
    for (Column const column : columns) column_of[codes[column]] = kNoColumn;
    Block const old = *this;
    codes.clear();
    births.clear();
    for (std::size_t column = 0; column < old.size(); ++column) {
        if (old.column_of[old.codes[column]] == kNoColumn) continue;
        column_of[old.codes[column]] = static_cast<Column>(codes.size());
        codes.push_back(old.codes[column]);
        births.push_back(old.births[column]);
    }
    for (std::size_t at = 0, y = 0; at < counts.size(); at += stride, ++y) {
        Count* const row = counts.data() + at;
        std::fill_n(row, stride, 0);
        for (std::size_t column = 0; column < size(); ++column)
            row[column] = old.counts[at + old.column_of[codes[column]]];
    }
    // The limit falls while a rule grows: give back what will not be needed again.
    if (std::size_t const room = std::max<std::size_t>(8, size() + size() / 2); stride > 2 * room) set_stride(room);
}

std::size_t Block::bytes() const {
    std::size_t const words = same_class_variables[0].capacity() + same_class_variables[1].capacity() +
                              read_variables.capacity() + column_of.capacity() + codes.capacity() + births.capacity() +
                              counts.capacity();
    return words * 4 + true_bits.capacity() * 8;
}

std::size_t Candidates::bytes() const {
    std::size_t bytes = blocks.capacity() * sizeof(Block);
    for (Block const& block : blocks) bytes += block.bytes();
    return bytes;
}

void mark_used_codes(Candidates const& candidates, std::size_t type, std::vector<bool>& used) {
    for (Block const& block : candidates.blocks) {
        if (block.type != type) continue;
        for (Code const code : block.codes) used[code] = true;
    }
}

// ---- tests ----

namespace {

std::uint64_t magnitude(Int value) {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

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

// A component v has a share of 1 / ((|v| + 1)(|v| + 2)) in the prior, divided between v and -v.
Log length_of_value(VectorView value) {
    LogTables const& logs = LogTables::get();
    Log length = 0;
    for (Int const each : value) {
        std::uint64_t const size = magnitude(each);
        length += logs.number(size + 1) + logs.number(size + 2) + (each == 0 ? 0 : logs.number(2));
    }
    return length;
}

}  // namespace

Log description_length(Codes const& codes, Block const& block, Code code) {
    return block.description_length + length_of_value(codes.value(block.type, code));
}

Test test_of(Codes const& codes, Node const& node, CandidateId candidate) {
    Block const& block = node.candidates.blocks[candidate.block];
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
    std::uint64_t times_true;
    std::uint32_t birth;
    CandidateId id;

    [[nodiscard]] auto rank() const { return std::pair(times_true, birth); }
};

// All candidates but the test in place.
std::vector<Entry> removable_candidates(LearningContext& context, Node const& node) {
    std::vector<Entry> entries;
    entries.reserve(node.candidates.size);
    Counts const totals = node.stats.totals;
    std::vector<std::uint64_t> times_true;
    for (std::size_t b = 0; b < node.candidates.blocks.size(); ++b) {
        Block const& block = node.candidates.blocks[b];
        Count const* const counts = block.all_counts(totals, context.scratch.counts);
        times_true.assign(block.size(), 0);
        for (std::size_t y = 0; y < totals.size(); ++y)
            for (std::size_t i = 0; i < block.size(); ++i) times_true[i] += counts[y * block.stride + i];
        for (std::size_t i = 0; i < block.size(); ++i) {
            CandidateId const id{b, block.codes[i]};
            if (node.is_leaf() || node.test_candidate != id) entries.push_back({times_true[i], block.births[i], id});
        }
    }
    return entries;
}

// Moves the `n` entries of lowest rank to the front. Canonical order is only asked for entries whose rank is that of
// the cut (the less preferred go first): there are many candidates, and comparing tests is slow.
void put_least_first(LearningContext& context, Node const& node, std::vector<Entry>& entries, std::uint64_t n) {
    if (n >= entries.size()) return;
    auto const at = [&](std::uint64_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(entries.begin(), at(n), entries.end(), [](auto& a, auto& b) { return a.rank() < b.rank(); });
    auto const cut = at(n)->rank();
    auto const tied = std::partition(entries.begin(), entries.end(), [&](auto& each) { return each.rank() < cut; });
    auto const end = std::partition(tied, entries.end(), [&](auto& each) { return each.rank() == cut; });
    std::vector<std::pair<Test, Entry>> tests;
    for (auto each = tied; each != end; ++each) tests.emplace_back(test_of(context.codes, node, each->id), *each);
    auto const wanted = tests.begin() + (at(n) - tied);
    std::nth_element(tests.begin(), wanted, tests.end(), [&](auto& a, auto& b) {
        return canonical_order(context.codes.types(), node.variable_classes.size(), a.first, b.first) > 0;
    });
    std::transform(tests.begin(), tests.end(), tied, [](auto& each) { return each.second; });
}

}  // namespace

std::uint64_t candidate_limit(LearningContext const& context, Node const& node, std::size_t nodes) {
    std::uint64_t const by_objects =
        candidates_per_object * std::max<std::uint64_t>(min_objects, context.state.roster()->size());
    std::uint64_t const counters = std::min(max_node_counters, max_rule_counters / nodes);
    std::uint64_t const by_counters = counters / std::max<std::size_t>(1, node.stats.totals.size());
    return std::min({context.settings.max_candidates, by_objects, std::max<std::uint64_t>(1, by_counters)});
}

std::uint64_t forget_candidates(LearningContext& context, Node& node, std::size_t nodes) {
    Candidates& candidates = node.candidates;
    std::uint64_t const limit = candidate_limit(context, node, nodes);
    if (candidates.size <= limit) return 0;
    std::vector<Entry> entries = removable_candidates(context, node);
    std::uint64_t const surplus = std::min<std::uint64_t>(candidates.size - (limit - limit / 8), entries.size());
    put_least_first(context, node, entries, surplus);
    std::vector<std::vector<Block::Column>> dropped(candidates.blocks.size());  // by block
    for (std::uint64_t i = 0; i < surplus; ++i) {
        auto const [block, code] = entries[i].id;
        candidates.blocks[block].index_columns();
        dropped[block].push_back(candidates.blocks[block].column_of[code]);
    }
    for (std::size_t b = 0; b < dropped.size(); ++b)
        if (!dropped[b].empty()) candidates.blocks[b].erase(dropped[b], node.stats.totals);
    candidates.size -= surplus;
    return surplus;
}

}  // namespace treethink
