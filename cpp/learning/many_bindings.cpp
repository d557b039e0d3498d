// many_bindings.cpp - counts a target for which the node's variables stand for many objects.
//
// A test counts once, however many bindings it holds for. In a box, codes are arithmetic: the facts about an object and
// all partners are the codes of the partners, shifted by its own. So they are found as sets, in words of 64 codes.
#include <algorithm>
#include <bit>
#include <utility>

#include "learning/counting.hpp"

namespace treethink {

namespace {

// Fewer bindings than this are counted one by one.
constexpr std::size_t many_bindings = 8;
// A set is used where it has a word for so many partners at most.
constexpr std::size_t partners_per_word = 2;

void set_bit(std::vector<std::uint64_t>& set, Code code, bool on) {
    std::uint64_t const bit = std::uint64_t{1} << (code % 64);
    set[code / 64] = on ? set[code / 64] | bit : set[code / 64] & ~bit;
}

void add_shifted(std::vector<std::uint64_t> const& from, Code by, std::vector<std::uint64_t>& to) {
    std::size_t const words = by / 64;
    unsigned const bits = by % 64;
    for (std::size_t w = 0; w < from.size(); ++w) {
        to[w + words] |= from[w] << bits;
        if (bits > 0) to[w + words + 1] |= from[w] >> (64 - bits);
    }
}

}  // namespace

// False, having counted nothing, if codes are not arithmetic or there is one binding.
bool NodeCounter::count_bound_in_box(Block const& block) {
    if (bindings_.size() == 1 || !codes_.arithmetic(block.type)) return false;
    FactType const& type = type_of(block);
    next_epoch(block.type);
    make_counters(block);
    bool const two_terms = type.terms == 2;
    Code const* const xs = codes_.codes(type.slots[0]);
    Code const* const ys = codes_.codes(type.slots[two_terms ? 1 : 0]);
    Code const centre = codes_.centre(block.type);
    std::uint32_t const first = block.variables[0], second = block.variables[type.arity == 1 ? 0 : 1];
    Row const* rows = bindings_.rows.data();
    for (std::size_t i = 0; i < bindings_.size(); ++i, rows += bindings_.width) {
        Code const code = two_terms ? ys[rows[second]] - xs[rows[first]] + centre : xs[rows[first]];
        if (std::exchange(scratch_.marks[code], scratch_.epoch) == scratch_.epoch) continue;
        BlockCounters::Column const column = column_or_new(block, code);
        ++counters_->counts[outcome_ * counters_->stride + column];
    }
    return true;
}

// False, having counted nothing, if that would not be cheaper than to look at each binding and each partner.
bool NodeCounter::count_partners_as_set(Block const& block, std::size_t bound) {
    if (bindings_.size() < many_bindings || !codes_.arithmetic(block.type)) return false;
    std::size_t const words = codes_.centre(block.type) / 64 + 1;
    if (words * partners_per_word > codes_.rows(type_of(block).slots[1 - bound])) return false;
    scratch_.partner_codes.assign(words, 0);
    scratch_.true_codes.assign(2 * words + 1, 0);
    find_codes_of_partners(block, bound);
    add_codes(block);
    return true;
}

// For each object that the bound variable stands for, the facts about it and all partners that are not taken. Where the
// object is the only one that is taken besides those taken in every binding, it can stay among its own partners: it
// gives the fact that two values are equal, which holds just if another partner has its value.
void NodeCounter::find_codes_of_partners(Block const& block, std::size_t bound) {
    FactType const& type = type_of(block);
    Code const centre = codes_.centre(block.type);
    Code const* const own = codes_.codes(type.slots[bound]);
    Code const* const partners = codes_.codes(type.slots[1 - bound]);
    std::size_t const rows = codes_.rows(type.slots[1 - bound]);
    auto& set = scratch_.partner_codes;
    auto& holders = scratch_.tally;  // by code: partners in the set
    if (holders.size() <= centre) holders.resize(centre + 1, 0);
    auto const place = [&](Row row) { return bound == 0 ? partners[row] : centre - partners[row]; };
    auto const add = [&](Row row) {
        if (holders[place(row)]++ == 0) set_bit(set, place(row), true);
    };
    auto const remove = [&](Row row) {
        if (--holders[place(row)] == 0) set_bit(set, place(row), false);
    };
    for (Row row = 0; row < rows; ++row) add(row);
    std::uint32_t const variable = block.variables[bound];
    auto const row_of = [&](std::uint32_t i) { return bindings_[i][variable]; };
    auto rest = bindings_by_row(variable);
    std::span<Row const> const always = rows_always_taken(block, 1 - bound);
    std::size_t const variables = block.same_class_size[1 - bound];
    auto const is_free = [&](std::uint32_t i) {
        return std::find(always.begin(), always.end(), row_of(i)) == always.end();
    };
    bool const none_but_own =
        type.unordered() && always.size() + 1 == variables && std::all_of(rest.begin(), rest.end(), is_free);
    bool const simple = none_but_own || always.size() == variables;
    if (simple)
        for (Row const row : always) remove(row);
    bool equal = false;
    while (!rest.empty()) {
        Row const row = row_of(rest.front());
        std::size_t size = 1;
        while (size < rest.size() && row_of(rest[size]) == row) ++size;
        Code const by = bound == 0 ? centre - own[row] : own[row];
        if (simple) {
            add_shifted(set, by, scratch_.true_codes);
            equal = equal || holders[place(row)] > 1;
        } else {
            auto const taken = commonly_taken_rows(block, 1 - bound, rest.first(size));
            for (Row const each : taken) remove(each);
            add_shifted(set, by, scratch_.true_codes);
            for (Row const each : taken) add(each);
        }
        rest = rest.subspan(size);
    }
    if (none_but_own) set_bit(scratch_.true_codes, centre, equal);
    for (Row row = 0; row < rows; ++row) holders[place(row)] = 0;
}

// Rows that a new variable cannot stand for in any binding, ascending. Many blocks ask for them.
std::span<Row const> NodeCounter::rows_always_taken(Block const& block, std::size_t argument) {
    auto& known = scratch_.always_taken;
    std::pair const asked(block.same_class_begin[argument], block.same_class_size[argument]);
    if (std::exchange(always_taken_of_, asked) == asked) return known;
    known.clear();
    auto const variables = candidates_.table().same_class_variables(block, argument);
    for (std::uint32_t const v : variables) {
        Row const row = bindings_[0][v];
        auto const is_taken = [&](std::span<Row const> binding) {
            return binding[v] == row ||
                   std::any_of(variables.begin(), variables.end(), [&](auto u) { return binding[u] == row; });
        };
        bool always = true;
        for (std::size_t i = 1; always && i < bindings_.size(); ++i) always = is_taken(bindings_[i]);
        if (always) known.push_back(row);
    }
    if (known.size() > 1) std::sort(known.begin(), known.end());
    return known;
}

void NodeCounter::add_codes(Block const& block) {
    make_counters(block);
    for (std::size_t w = 0; w < scratch_.true_codes.size(); ++w)
        for (std::uint64_t rest = scratch_.true_codes[w]; rest != 0; rest &= rest - 1) {
            auto const code = static_cast<Code>(w * 64) + static_cast<Code>(std::countr_zero(rest));
            BlockCounters::Column const column = column_or_new(block, code);
            ++counters_->counts[outcome_ * counters_->stride + column];
        }
}

}  // namespace treethink
