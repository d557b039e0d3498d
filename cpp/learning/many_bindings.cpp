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

/// The codes of a block's partners, mirrored where the bound variable comes second: shifted by an object's own code,
/// they are those of the facts about it.
class PartnerCodes {
public:
    PartnerCodes(Codes const& codes, Block const& block, std::size_t bound, Scratch& scratch)
        : centre_(codes.centre(block.type)), mirrored_(bound == 1), own_(codes.codes(slot(codes, block, bound))),
          partners_(codes.codes(slot(codes, block, 1 - bound))), rows_(codes.rows(slot(codes, block, 1 - bound))),
          set_(scratch.partner_codes), holders_(scratch.tally) {
        set_.assign(words(codes, block), 0);
        if (holders_.size() <= centre_) holders_.resize(centre_ + 1, 0);
        for (Row row = 0; row < rows_; ++row) add(row);
    }
    ~PartnerCodes() {
        for (Row row = 0; row < rows_; ++row) holders_[place(row)] = 0;
    }
    PartnerCodes(PartnerCodes const&) = delete;
    PartnerCodes& operator=(PartnerCodes const&) = delete;

    [[nodiscard]] static std::size_t words(Codes const& codes, Block const& block) {
        return codes.centre(block.type) / 64 + 1;
    }
    void add(Row row) {
        if (holders_[place(row)]++ == 0) set_[place(row) / 64] |= std::uint64_t{1} << (place(row) % 64);
    }
    void remove(Row row) {
        if (--holders_[place(row)] == 0) set_[place(row) / 64] &= ~(std::uint64_t{1} << (place(row) % 64));
    }
    /// Whether several partners in the set have the value of this one.
    [[nodiscard]] bool is_shared(Row row) const { return holders_[place(row)] > 1; }
    /// Adds the codes of the facts about an object and the partners in the set.
    void add_facts_of(Row row, std::vector<std::uint64_t>& facts) const {
        Code const by = mirrored_ ? own_[row] : centre_ - own_[row];
        unsigned const bits = by % 64;
        for (std::size_t w = 0; w < set_.size(); ++w) {
            facts[w + by / 64] |= set_[w] << bits;
            if (bits > 0) facts[w + by / 64 + 1] |= set_[w] >> (64 - bits);
        }
    }

private:
    [[nodiscard]] static SlotId slot(Codes const& codes, Block const& block, std::size_t term) {
        return codes.types()[block.type].slots[term];
    }
    [[nodiscard]] Code place(Row row) const { return mirrored_ ? centre_ - partners_[row] : partners_[row]; }

    Code centre_;
    bool mirrored_;
    Code const* own_;
    Code const* partners_;
    std::size_t rows_;
    std::vector<std::uint64_t>& set_;
    std::vector<std::uint32_t>& holders_;  // by place: partners in the set
};

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
    std::size_t const words = PartnerCodes::words(codes_, block);
    if (words * partners_per_word > codes_.rows(type_of(block).slots[1 - bound])) return false;
    scratch_.true_codes.assign(2 * words + 1, 0);
    auto const always = rows_always_taken(block, 1 - bound);
    auto const bindings = bindings_by_row(block.variables[bound]);
    auto const is_free = [&](std::uint32_t i) {
        return std::find(always.begin(), always.end(), bindings_[i][block.variables[bound]]) == always.end();
    };
    std::size_t const taken = block.same_class_size[1 - bound];
    bool const none_but_own = type_of(block).unordered() && always.size() + 1 == taken &&
                              std::all_of(bindings.begin(), bindings.end(), is_free);
    if (none_but_own || always.size() == taken)
        find_codes_where_same_are_taken(block, bound, always, none_but_own);
    else
        find_codes_of_partners(block, bound);
    add_codes(block);
    return true;
}

// The same partners are taken in every binding, but perhaps for the object itself, which can change places with them.
// It can stay among its own partners: it gives the fact that two values are equal, which holds just if another partner
// has its value.
void NodeCounter::find_codes_where_same_are_taken(Block const& block, std::size_t bound, std::span<Row const> taken,
                                                  bool or_own) {
    PartnerCodes partners(codes_, block, bound, scratch_);
    for (Row const row : taken) partners.remove(row);
    bool equal = false;
    Row last = any_row;
    for (std::uint32_t const i : scratch_.chosen) {  // the bindings, by row
        Row const row = bindings_[i][block.variables[bound]];
        if (std::exchange(last, row) == row) continue;
        partners.add_facts_of(row, scratch_.true_codes);
        equal = equal || (or_own && partners.is_shared(row));
    }
    if (!or_own) return;
    Code const zero = codes_.centre(block.type);
    std::uint64_t const bit = std::uint64_t{1} << (zero % 64);
    std::uint64_t& word = scratch_.true_codes[zero / 64];
    word = equal ? word | bit : word & ~bit;
}

// The partners that are taken in all bindings of an object leave the set while its facts are found.
void NodeCounter::find_codes_of_partners(Block const& block, std::size_t bound) {
    PartnerCodes partners(codes_, block, bound, scratch_);
    auto const row_of = [&](std::uint32_t i) { return bindings_[i][block.variables[bound]]; };
    for (std::span<std::uint32_t const> rest = scratch_.chosen; !rest.empty();) {
        Row const row = row_of(rest.front());
        std::size_t size = 1;
        while (size < rest.size() && row_of(rest[size]) == row) ++size;
        auto const taken = commonly_taken_rows(block, 1 - bound, rest.first(size));
        for (Row const each : taken) partners.remove(each);
        partners.add_facts_of(row, scratch_.true_codes);
        for (Row const each : taken) partners.add(each);
        rest = rest.subspan(size);
    }
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
