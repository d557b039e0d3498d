#include "learning/counting.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace treethink {

namespace {

// Which test is asked is said in two parts: which block, and which value (length_of_value). Blocks have
// shares of one prior, half as much for each new variable, for each that is not tied to an older one, and for
// an absolute vector: so rules come out as a person would write them.
void set_lengths(std::vector<FactType> const& types, std::vector<Block>& blocks) {
    auto const share = [&](Block const& block) {
        FactType const& type = types[block.type];
        std::size_t const fresh = static_cast<std::size_t>(block.is_new[0]) + (type.arity == 2 && block.is_new[1]);
        std::size_t const cost = cost_of(type, fresh);
        return std::uint64_t{1} << (most_cost - cost);
    };
    std::uint64_t all = 0;
    for (Block const& block : blocks) all += share(block);
    for (Block& block : blocks)
        block.length = log_of(static_cast<double>(all)) - log_of(static_cast<double>(share(block)));
}

}  // namespace

std::vector<Block> make_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes) {
    std::vector<Block> blocks;
    auto const n = static_cast<std::uint32_t>(classes.size());
    auto add = [&](std::size_t t, std::array<std::uint32_t, 2> variables) {
        FactType const& type = types[t];
        Block block;
        block.type = t;
        block.variables = variables;
        std::vector<bool> read(n, false);
        std::size_t fresh = 0;
        for (std::size_t k = 0; k < type.arity; ++k) {
            block.is_new[k] = variables[k] >= n;
            fresh += block.is_new[k];
            if (!block.is_new[k]) read[variables[k]] = true;
            for (std::uint32_t v = 0; v < n && block.is_new[k]; ++v) {
                if (classes[v] != type.classes[k]) continue;
                block.rivals[k].push_back(v);
                read[v] = true;
            }
        }
        for (std::uint32_t v = 0; v < n; ++v)
            if (read[v]) block.reads.push_back(v);
        block.mentions = fresh == 0            ? Block::Mentions::bound
                         : fresh == type.arity ? Block::Mentions::fresh
                                               : Block::Mentions::both;
        blocks.push_back(std::move(block));
    };
    for (std::size_t t = 0; t < types.size(); ++t) {
        FactType const& type = types[t];
        auto fits = [&](std::uint32_t v, std::size_t k) { return v < n && classes[v] == type.classes[k]; };
        for (std::uint32_t i = 0; i <= n; ++i) {
            if (i < n && !fits(i, 0)) continue;
            if (type.arity == 1) {
                add(t, {i, 0});
                continue;
            }
            // Within a class the older variable comes first, so a new one never stands before an old one.
            for (std::uint32_t j = 0; j < n; ++j)
                if (fits(j, 1) && (type.same_class() ? i < j && i < n : true)) add(t, {i, j});
            add(t, {i, i < n ? n : n + 1});
        }
    }
    set_lengths(types, blocks);
    return blocks;
}

std::optional<std::size_t> find_block(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                                      Test const& test) {
    auto const blocks = make_blocks(types, classes);
    for (std::size_t b = 0; b < blocks.size(); ++b)
        if (blocks[b].type == test.type && blocks[b].variables == test.variables) return b;
    return std::nullopt;
}

void grow_block(Block& block, Codes const& codes, std::size_t outcomes) {
    Code const size = codes.size(block.type);
    if (size > block.stride) {
        // Interned codes grow one by one; leave room.
        Code const stride = codes.arithmetic(block.type) ? size : size + size / 2;
        std::vector<Count> counts(outcomes * stride, 0);
        for (std::size_t y = 0; y * block.stride < block.counts.size(); ++y)
            std::copy_n(block.counts.begin() + static_cast<std::ptrdiff_t>(y * block.stride), block.stride,
                        counts.begin() + static_cast<std::ptrdiff_t>(y * stride));
        block.counts = std::move(counts);
        block.births.resize(stride, 0);
        block.bits.resize(stride / 64 + 1, 0);
        block.stride = stride;
    }
    if (block.counts.size() < outcomes * block.stride) block.counts.resize(outcomes * block.stride, 0);
}

void settle(Block& block, Counts totals) {
    if (!block.pending) return;
    if (block.counts.size() < totals.size() * block.stride) block.counts.resize(totals.size() * block.stride, 0);
    for (std::size_t w = 0; w < block.bits.size(); ++w) {
        for (std::uint64_t rest = std::exchange(block.bits[w], 0); rest != 0; rest &= rest - 1) {
            Code const code = static_cast<Code>(w * 64) + static_cast<Code>(std::countr_zero(rest));
            for (std::size_t y = 0; y < totals.size(); ++y) block.counts[y * block.stride + code] += totals[y];
        }
    }
    block.version = 0;
    block.pending = block.excluded = false;
}

void read_counts(Block const& block, Code code, Counts totals, std::vector<Count>& out) {
    out.resize(totals.size());
    bool const pending = block.bit(code);
    for (std::size_t y = 0; y < totals.size(); ++y) {
        std::size_t const at = y * block.stride + code;
        Count const stored = at < block.counts.size() ? block.counts[at] : 0;
        out[y] = stored + (pending ? totals[y] : 0);
    }
}

void NodeCounter::count() {
    for (Block& block : node_.blocks) {
        switch (block.mentions) {
            case Block::Mentions::bound:
                count_bound(block);
                break;
            case Block::Mentions::both:
                count_partners(block);
                break;
            case Block::Mentions::fresh:
                count_free(block);
                break;
        }
    }
}

// ---- tests that mention a bound object ----

void NodeCounter::count_bound(Block& block) {
    auto const chosen = different_bindings(block);
    bool const once = chosen.size() > 1;
    if (once) next_epoch(block.type);
    for (std::uint32_t const i : chosen) {
        auto const binding = bindings_[i];
        Code const code = type_of(block).arity == 1
                              ? codes_.code(block.type, binding[block.variables[0]])
                              : codes_.code(block.type, binding[block.variables[0]], binding[block.variables[1]]);
        add_one(block, code, once);
    }
}

void NodeCounter::count_partners(Block& block) {
    std::size_t const bound = block.is_new[0] ? 1 : 0;
    SlotId const slot = type_of(block).slots[1 - bound];
    if (codes_.rows(slot) == 0) return;
    auto const chosen = different_bindings(block);
    bool const once = chosen.size() > 1 || !codes_.arithmetic(block.type) || !codes_.distinct(slot);
    if (once) next_epoch(block.type);
    for (std::uint32_t const i : chosen) {
        auto const binding = bindings_[i];
        add_partners(block, bound, binding[block.variables[bound]], rival_rows(block, 1 - bound, binding), once);
    }
}

void NodeCounter::add_partners(Block& block, std::size_t bound_argument, Row row, std::span<Row const> skip,
                               bool once) {
    FactType const& type = type_of(block);
    std::size_t const type_id = block.type;
    std::size_t const rows = codes_.rows(type.slots[1 - bound_argument]);
    auto add = [&](auto code_of) {
        if (once)
            add_rows<true>(block, rows, skip, code_of);
        else
            add_rows<false>(block, rows, skip, code_of);
    };
    if (codes_.arithmetic(type_id)) {
        Code const own = codes_.codes(type.slots[bound_argument])[row];
        Code const* const partner = codes_.codes(type.slots[1 - bound_argument]);
        Code const centre = codes_.centre(type_id);
        if (bound_argument == 0)
            add([partner, from = centre - own](Row y) { return partner[y] + from; });
        else
            add([partner, from = centre + own](Row x) { return from - partner[x]; });
    } else if (bound_argument == 0) {
        add([this, type_id, row](Row y) { return codes_.code(type_id, row, y); });
    } else {
        add([this, type_id, row](Row x) { return codes_.code(type_id, x, row); });
    }
}

template <bool Once, class CodeOf>
void NodeCounter::add_rows(Block& block, std::size_t rows, std::span<Row const> skip, CodeOf code_of) {
    if (!codes_.arithmetic(block.type)) {
        for (Row row = 0; row < rows; ++row)
            if (std::find(skip.begin(), skip.end(), row) == skip.end()) add_one(block, code_of(row), Once);
        return;
    }
    fit_block(block, codes_, node_.totals.size());
    Count* const counts = block.counts.data() + outcome_ * block.stride;
    std::uint32_t* const births = block.births.data();
    std::uint32_t* const marks = scratch_.marks.data();
    std::uint32_t const epoch = scratch_.epoch;
    std::uint64_t born = 0;
    Row row = 0;
    for (std::size_t s = 0; s <= skip.size(); ++s) {  // the stretches between the rows to skip, which ascend
        Row const end = s < skip.size() ? skip[s] : static_cast<Row>(rows);
        for (; row < end; ++row) {
            Code const code = code_of(row);
            if constexpr (Once) {
                if (marks[code] == epoch) continue;
                marks[code] = epoch;
            }
            if (births[code] == 0) births[code] = birth_, ++born;
            ++counts[code];
        }
        ++row;
    }
    node_.candidates += born;
}

void NodeCounter::add_one(Block& block, Code code, bool once) {
    if (code == no_code) return;
    if (once) {
        if (code >= scratch_.marks.size()) scratch_.marks.resize(code + 1 + code / 2, 0);
        if (scratch_.marks[code] == scratch_.epoch) return;
        scratch_.marks[code] = scratch_.epoch;
    }
    fit_block(block, codes_, node_.totals.size());
    if (block.births[code] == 0) block.births[code] = birth_, ++node_.candidates;
    ++block.counts[outcome_ * block.stride + code];
}

// ---- tests about new variables only ----

void NodeCounter::count_free(Block& block) {
    FactType const& type = type_of(block);
    std::size_t const wanted = type.same_class() ? 2 : 1;
    bool possible = true;
    for (std::size_t k = 0; k < type.arity; ++k)
        possible = possible && codes_.rows(type.slots[k]) >= wanted + block.rivals[k].size();
    if (!possible)
        settle(block, node_.totals);
    else if (!add_only_pair(block))
        follow(block);
}

// A class with one object left is as good as bound: its facts change whenever it moves, so
// adding them up is cheaper than following them. False when there is no such class.
bool NodeCounter::add_only_pair(Block& block) {
    FactType const& type = type_of(block);
    if (bindings_.size() != 1 || type.same_class()) return false;
    for (std::size_t k = 0; k < type.arity; ++k) {
        if (codes_.rows(type.slots[k]) != block.rivals[k].size() + 1) continue;
        settle(block, node_.totals);
        auto const taken = rival_rows(block, k, bindings_[0]);
        Row only = 0;
        while (only < taken.size() && taken[only] == only) ++only;  // they ascend
        if (type.arity == 1) {
            add_one(block, codes_.code(block.type, only), false);
            return true;
        }
        SlotId const slot = type.slots[1 - k];
        bool const once = !codes_.arithmetic(block.type) || !codes_.distinct(slot);
        if (once) next_epoch(block.type);
        add_partners(block, k, only, rival_rows(block, 1 - k, bindings_[0]), once);
        return true;
    }
    return false;
}

void NodeCounter::follow(Block& block) {
    Truth const& truth = codes_.truth(block.type);
    scratch_.excluded.clear();
    if (block.has_rivals()) find_excluded(block, truth);
    bool const exact = scratch_.excluded.empty();
    if (exact && !block.excluded && block.version == truth.version) return;
    fit_block(block, codes_, node_.totals.size());
    auto next = scratch_.excluded.begin();
    for (std::size_t w = 0; w < block.bits.size(); ++w) {
        std::uint64_t want = w < truth.bits.size() ? truth.bits[w] : 0;
        for (; next != scratch_.excluded.end() && *next / 64 == w; ++next) want &= ~(std::uint64_t{1} << (*next % 64));
        for (std::uint64_t rest = want ^ block.bits[w]; rest != 0; rest &= rest - 1) {
            auto const place = static_cast<unsigned>(std::countr_zero(rest));
            flip(block, static_cast<Code>(w * 64) + place, (want >> place & 1) != 0);
        }
        block.bits[w] = want;
    }
    block.version = truth.version;
    block.pending = true;
    block.excluded = !exact;
}

void NodeCounter::flip(Block& block, Code code, bool on) {
    if (block.births[code] == 0) block.births[code] = birth_, ++node_.candidates;
    for (std::size_t y = 0; y < node_.totals.size(); ++y) {
        Count& count = block.counts[y * block.stride + code];
        count = on ? count - node_.totals[y] : count + node_.totals[y];  // modulo 2^32, and exact when settled
    }
}

// Facts that hold only of objects which the node's variables already stand for, in every binding.
void NodeCounter::find_excluded(Block& block, Truth const& truth) {
    auto& excluded = scratch_.excluded;
    bool first = true;
    for (std::uint32_t const i : different_bindings(block)) {
        tally_rivals(block, bindings_[i], truth);
        auto all_taken = [&](Code code) { return scratch_.tally[code] >= truth.counts[code]; };
        if (first)
            std::copy_if(scratch_.tallied.begin(), scratch_.tallied.end(), std::back_inserter(excluded), all_taken);
        else
            std::erase_if(excluded, [&](Code code) { return !all_taken(code); });
        for (Code const code : scratch_.tallied) scratch_.tally[code] = 0;
        first = false;
        if (excluded.empty()) return;
    }
    std::sort(excluded.begin(), excluded.end());
}

// How many of each fact's groundings involve an object that this binding already uses.
void NodeCounter::tally_rivals(Block& block, std::span<Row const> binding, Truth const& truth) {
    FactType const& type = type_of(block);
    auto& tally = scratch_.tally;
    if (tally.size() < truth.counts.size()) tally.resize(truth.counts.size(), 0);
    scratch_.tallied.clear();
    auto const xs = rival_rows(block, 0, binding), ys = rival_rows(block, 1, binding);
    // With distinct values, each rival has at most two pairs of one difference: only rare facts matter.
    bool const rare = type.arity == 2 && codes_.arithmetic(block.type) && codes_.distinct(type.slots[0]) &&
                      codes_.distinct(type.slots[1]);
    std::size_t const most = rare ? 2 * (xs.size() + ys.size()) : std::numeric_limits<std::uint32_t>::max();
    auto add = [&](Code code) {
        if (code == no_code || truth.counts[code] > most) return;
        if (tally[code]++ == 0) scratch_.tallied.push_back(code);
    };
    auto taken = [&](Row row) { return std::find(xs.begin(), xs.end(), row) != xs.end(); };
    if (type.arity == 1) {
        for (Row const x : xs) add(codes_.code(block.type, x));
        return;
    }
    if (type.same_class()) {
        std::size_t const rows = codes_.rows(type.slots[0]);
        for (Row const x : xs)
            for (Row y = 0; y < rows; ++y)
                if (y > x || (y < x && !taken(y))) add(codes_.unordered_code(block.type, x, y));
        return;
    }
    for (Row const x : xs)
        for (Row y = 0; y < codes_.rows(type.slots[1]); ++y) add(codes_.code(block.type, x, y));
    for (Row const y : ys)
        for (Row x = 0; x < codes_.rows(type.slots[0]); ++x)
            if (!taken(x)) add(codes_.code(block.type, x, y));
}

// ---- bindings ----

// One binding for each different choice of the objects that matter to the block.
std::span<std::uint32_t const> NodeCounter::different_bindings(Block const& block) {
    static constexpr std::uint32_t first = 0;
    if (bindings_.size() == 1 || block.reads.empty()) return {&first, 1};
    auto& chosen = scratch_.chosen;
    chosen.resize(bindings_.size());
    std::iota(chosen.begin(), chosen.end(), 0u);
    auto compare = [&](std::uint32_t a, std::uint32_t b) -> std::strong_ordering {
        for (std::uint32_t const v : block.reads)
            if (auto const order = bindings_[a][v] <=> bindings_[b][v]; order != 0) return order;
        return std::strong_ordering::equal;
    };
    std::sort(chosen.begin(), chosen.end(), [&](auto a, auto b) { return compare(a, b) < 0; });
    chosen.erase(std::unique(chosen.begin(), chosen.end(), [&](auto a, auto b) { return compare(a, b) == 0; }),
                 chosen.end());
    return chosen;
}

// Rows that a new variable cannot have, ascending.
std::span<Row const> NodeCounter::rival_rows(Block const& block, std::size_t argument, std::span<Row const> binding) {
    auto& rows = scratch_.rows[argument];
    rows.clear();
    for (std::uint32_t const v : block.rivals[argument]) rows.push_back(binding[v]);
    if (rows.size() > 1) std::sort(rows.begin(), rows.end());
    return rows;
}

// ---- room ----

void NodeCounter::next_epoch(std::size_t type) {
    if (scratch_.marks.size() < codes_.size(type)) scratch_.marks.resize(codes_.size(type), 0);
    if (++scratch_.epoch == 0) {
        std::fill(scratch_.marks.begin(), scratch_.marks.end(), 0);
        scratch_.epoch = 1;
    }
}

}  // namespace treethink
