#include "learning/counting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace treethink {

namespace {

// So many facts are added up as fast as they are followed, also for several targets in one state.
constexpr std::size_t few_partners = 256;

}  // namespace

namespace {

// What was written gives way to what is seen.
void make_room_for_counts(Node& node) {
    if (!node.edits.hand_written || !node.is_leaf()) return;
    node.edits.hand_written = false;
    node.edits.clear_prior();
}

std::uint32_t birth_at(CountingTime time) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(time.transition, max_counted));
}

void add_outcome(LearningContext const& context, NodeStats& stats, std::uint32_t outcome, CountingTime time) {
    if (stats.totals[outcome]++ == 0) stats.next_check = 0;  // a new outcome makes all others less probable
    ++stats.n;
    context.criterion.count_cluster(stats.clusters, time.stamp, outcome, stats.totals.size());
    stats.score_bound += context.criterion.max_gain();
}

}  // namespace

bool count_target(LearningContext& context, Node& node, std::uint32_t outcome, CountingTime time,
                  NodeShare const& share) {
    if (node.stats.n >= max_counted) return false;
    make_room_for_counts(node);
    if (node.is_leaf() || context.settings.branch_updates)
        NodeCounter(context, node, context.scratch.bindings, outcome, birth_at(time)).count(node, share);
    add_outcome(context, node.stats, outcome, time);
    return true;
}

void count_group(LearningContext& context, Node& node, std::span<GroupMember const> members, CountingTime time,
                 NodeShare const& share) {
    make_room_for_counts(node);
    if (node.is_leaf() || context.settings.branch_updates)
        NodeCounter(context, node, context.scratch.bindings, members.front().outcome, birth_at(time))
            .count_group(node, share, members);
    for (GroupMember const& each : members) add_outcome(context, node.stats, each.outcome, time);
}

// ---- candidates ----

template <class CountBlock>
void NodeCounter::each_block(Node const& node, NodeShare const& share, CountBlock&& count_block) {
    if (!candidates_.are_counted()) return;
    std::size_t const end = std::min<std::uint64_t>(candidates_.table().size(), share.blocks);
    candidates_.each_to_count(codes_, end, count_block);
    std::size_t const own = node.test_candidate.block;
    if (own >= end && own < candidates_.table().size() && share.includes(node, own)) count_block(own);
}

void NodeCounter::count(Node const& node, NodeShare const& share) {
    each_block(node, share, [this](std::size_t block) { return count_block(block); });
}

void NodeCounter::count_group(Node const& node, NodeShare const& share, Members members) {
    if (!candidates_.are_counted()) return;
    candidates_.note_crowd();
    scratch_.running_totals.assign(totals_.begin(), totals_.end());
    totals_ = scratch_.running_totals;
    auto const not_before = [&](GroupMember const& a, GroupMember const& b) {
        return scratch_.member_rows[a.binding] >= scratch_.member_rows[b.binding];
    };
    differ_ = bindings_.width > 0 && std::adjacent_find(members.begin(), members.end(), not_before) == members.end();
    each_block(node, share, [&](std::size_t block) { return count_block_of_group(block, members); });
}

// Whether nothing is left to count until the state changes in what the block is about.
bool NodeCounter::count_block(std::size_t at) {
    Block const& block = candidates_.table()[at];
    block_ = at;
    counters_ = candidates_.find(at);
    switch (block.mentions) {
        case Block::Mentions::bound:
            count_bound(block);
            return false;
        case Block::Mentions::bound_and_new:
            count_partners(block);
            return false;
        case Block::Mentions::only_new:
            return !count_only_new(block) && !block.has_same_class_variables();
    }
    return false;
}

// ---- tests that mention a bound object ----

void NodeCounter::count_bound(Block const& block) {
    if (count_bound_in_box(block)) return;
    bool const once = bindings_.size() > 1;
    if (once) next_epoch(block.type);
    std::array<Row, 2> last{any_row, any_row};
    for (std::size_t i = 0; i < bindings_.size(); ++i) {
        auto const binding = bindings_[i];
        std::array<Row, 2> const rows{binding[block.variables[0]], binding[block.variables[1]]};
        if (std::exchange(last, rows) == rows) continue;
        add_one(
            block,
            type_of(block).arity == 1 ? codes_.code(block.type, rows[0]) : codes_.code(block.type, rows[0], rows[1]),
            once);
    }
}

void NodeCounter::count_partners(Block const& block) {
    std::size_t const bound = block.is_new[0] ? 1 : 0;
    std::uint32_t const variable = block.variables[bound];
    SlotId const slot = type_of(block).slots[1 - bound];
    if (codes_.rows(slot) == 0) return;
    auto const row_of = [&](std::uint32_t i) { return bindings_[i][variable]; };
    bool const repeats = !codes_.arithmetic(block.type) || !codes_.distinct(slot);
    if (bindings_.size() == 1) {
        if (repeats) next_epoch(block.type);
        return add_partners(block, bound, row_of(0), taken_rows(block, 1 - bound, bindings_[0]), repeats);
    }
    if (count_partners_as_set(block, bound)) return;
    auto rest = bindings_by_row(variable);
    bool const once = repeats || row_of(rest.front()) != row_of(rest.back());
    if (once) next_epoch(block.type);
    while (!rest.empty()) {  // all bindings in which the variable stands for the same object
        Row const row = row_of(rest.front());
        auto const end = std::find_if(rest.begin(), rest.end(), [&](auto i) { return row_of(i) != row; });
        auto const size = static_cast<std::size_t>(end - rest.begin());
        add_partners(block, bound, row, commonly_taken_rows(block, 1 - bound, rest.first(size)), once);
        rest = rest.subspan(size);
    }
}

void NodeCounter::add_partners(Block const& block, std::size_t bound_argument, Row row, std::span<Row const> skip,
                               bool once) {
    FactType const& type = type_of(block);
    std::size_t const type_id = block.type;
    SlotId const partners = type.slots[1 - bound_argument];
    std::size_t const rows = codes_.rows(partners);
    auto add = [&](auto code_of) {
        if (once)
            add_rows<true>(block, rows, skip, code_of);
        else
            add_rows<false>(block, rows, skip, code_of);
    };
    if (codes_.arithmetic(type_id)) {
        Code const own = codes_.codes(type.slots[bound_argument])[row];
        Code const* const partner = codes_.codes(partners);
        Code const centre = codes_.centre(type_id);
        bool const by_value = 2 * codes_.values(partners).size() <= rows;  // then every fact counts once
        auto add_arithmetic = [&](auto code_of) {
            if (by_value) return add_values(block, partners, skip, code_of);
            add([partner, code_of](Row y) { return code_of(partner[y]); });
        };
        if (bound_argument == 0)
            add_arithmetic([from = centre - own](Code y) { return y + from; });
        else
            add_arithmetic([from = centre + own](Code x) { return from - x; });
    } else if (bound_argument == 0) {
        add([this, type_id, row](Row y) { return codes_.code(type_id, row, y); });
    } else {
        add([this, type_id, row](Row x) { return codes_.code(type_id, x, row); });
    }
}

// Where many objects share a value, for each value: a fact counts once, however many objects it holds for.
template <class CodeOf>
void NodeCounter::add_values(Block const& block, SlotId slot, std::span<Row const> skip, CodeOf code_of) {
    auto const values = codes_.values(slot);
    auto const rows_of = codes_.rows_of_values(slot);
    Code const* const codes = codes_.codes(slot);
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto const skipped = std::count_if(skip.begin(), skip.end(), [&](Row row) { return codes[row] == values[i]; });
        if (rows_of[i] > static_cast<std::size_t>(skipped)) add_one(block, code_of(values[i]), true);
    }
}

template <bool Once, class CodeOf>
void NodeCounter::add_rows(Block const& block, std::size_t rows, std::span<Row const> skip, CodeOf code_of) {
    if (!codes_.arithmetic(block.type)) {
        for (Row row = 0; row < rows; ++row)
            if (std::find(skip.begin(), skip.end(), row) == skip.end()) add_one(block, code_of(row), Once);
        return;
    }
    make_counters(block);
    Count* counts = counters_->counts.data() + std::size_t{outcome_} * counters_->stride;
    BlockCounters::Column const* const column_of = counters_->column_of.data();
    std::uint32_t* const marks = scratch_.marks.data();
    std::uint32_t const epoch = scratch_.epoch;
    Row row = 0;
    for (std::size_t s = 0; s <= skip.size(); ++s) {  // the stretches between the rows to skip, which ascend
        Row const end = s < skip.size() ? skip[s] : static_cast<Row>(rows);
        for (; row < end; ++row) {
            Code const code = code_of(row);
            if constexpr (Once) {
                if (marks[code] == epoch) continue;
                marks[code] = epoch;
            }
            BlockCounters::Column column = column_of[code];
            if (column == BlockCounters::kNoColumn) {
                column = add_candidate(block, code);
                counts = counters_->counts.data() + std::size_t{outcome_} * counters_->stride;
            }
            ++counts[column];
        }
        ++row;
    }
}

void NodeCounter::add_one(Block const& block, Code code, bool once) {
    if (code == no_code) return;
    if (once) {
        if (code >= scratch_.marks.size()) scratch_.marks.resize(code + 1 + code / 2, 0);
        if (scratch_.marks[code] == scratch_.epoch) return;
        scratch_.marks[code] = scratch_.epoch;
    }
    make_counters(block);
    BlockCounters::Column const column = column_or_new(block, code);
    ++counters_->counts[outcome_ * counters_->stride + column];
}

BlockCounters::Column NodeCounter::add_candidate(Block const& block, Code code) {
    ++candidates_.size;
    BlockCounters::Column const column = counters_->add(code, birth_, totals_.size());
    counters_->fit(codes_, block.type, totals_.size());
    return column;
}

void NodeCounter::apply_pending() {
    if (counters_ != nullptr) counters_->apply_pending(totals_);
}

// ---- tests about new variables only ----

// Whether it had to add facts up: then they need it again.
bool NodeCounter::count_only_new(Block const& block) {
    bool const possible = is_possible(block);
    if (possible && add_only_pair(block)) return true;
    if (possible)
        follow_truth(block);
    else
        apply_pending();
    return false;
}

// Whether there are objects that the new variables may stand for.
bool NodeCounter::is_possible(Block const& block) const {
    FactType const& type = type_of(block);
    std::size_t const wanted = type.same_class() ? 2 : 1;
    bool possible = true;
    for (std::size_t k = 0; k < type.arity; ++k)
        possible = possible && codes_.rows(type.slots[k]) >= wanted + block.same_class_size[k];
    return possible;
}

// Handles a class that has one object left, which is as good as bound: its facts change whenever it moves, so
// adding them up is cheaper than following them, unless many targets come in one state. False when there is no such
// class.
bool NodeCounter::add_only_pair(Block const& block) {
    FactType const& type = type_of(block);
    if (bindings_.size() != 1 || type.same_class() || is_steady(block)) return false;
    for (std::size_t k = 0; k < type.arity; ++k) {
        if (codes_.rows(type.slots[k]) != std::size_t{block.same_class_size[k]} + 1) continue;
        if (type.arity == 2 && candidates_.counts_crowds() && codes_.rows(type.slots[1 - k]) > few_partners)
            return false;
        apply_pending();
        auto const taken = taken_rows(block, k, bindings_[0]);
        Row only = 0;
        while (only < taken.size() && taken[only] == only) ++only;  // they ascend
        if (type.arity == 1) {
            add_one(block, codes_.code(block.type, only), false);
            return true;
        }
        SlotId const slot = type.slots[1 - k];
        bool const once = !codes_.arithmetic(block.type) || !codes_.distinct(slot);
        if (once) next_epoch(block.type);
        add_partners(block, k, only, taken_rows(block, 1 - k, bindings_[0]), once);
        return true;
    }
    return false;
}

// Whether following facts is cheaper even for one object: nothing that they are about changes often.
bool NodeCounter::is_steady(Block const& block) const {
    FactType const& type = type_of(block);
    return !block.has_same_class_variables() && codes_.is_steady(type.slots[0]) &&
           (type.terms == 1 || codes_.is_steady(type.slots[1]));
}

void NodeCounter::follow_truth(Block const& block) {
    Truth const& truth = codes_.truth(block.type);
    scratch_.excluded.clear();
    if (block.has_same_class_variables()) find_excluded(block, truth);
    follow_to(block, truth);
}

// From now on, all facts hold but those in `scratch_.excluded`.
void NodeCounter::follow_to(Block const& block, Truth const& truth) {
    auto const& excluded = scratch_.excluded;
    bool const same_truth = counters_ != nullptr && counters_->truth_version == truth.version;
    if (same_truth && counters_->excluded == excluded) return;
    make_counters(block);
    counters_->true_codes.fit(counters_->column_of.size());
    if (same_truth)
        follow_exclusions(block);
    else
        follow_all(block, truth);
    counters_->excluded = excluded;
    counters_->truth_version = truth.version;
    counters_->has_pending = true;
}

void NodeCounter::follow_all(Block const& block, Truth const& truth) {
    constexpr std::size_t bits = CodeSet::word_bits;
    CodeSet& true_codes = counters_->true_codes;
    auto next = scratch_.excluded.begin();
    truth.true_codes.each_word(true_codes, [&](std::size_t w) {
        std::uint64_t want = truth.true_codes.word(w);
        for (; next != scratch_.excluded.end() && *next / bits == w; ++next)
            want &= ~(std::uint64_t{1} << (*next % bits));
        for (std::uint64_t rest = want ^ true_codes.word(w); rest != 0; rest &= rest - 1) {
            auto const place = static_cast<unsigned>(std::countr_zero(rest));
            flip(block, static_cast<Code>(w * bits) + place, (want >> place & 1) != 0);
        }
        if (want != true_codes.word(w)) true_codes.set_word(w, want);
    });
}

// In the same state: targets of one transition differ in what they exclude.
void NodeCounter::follow_exclusions(Block const& block) {
    auto const& before = counters_->excluded;
    auto const& now = scratch_.excluded;
    for (auto a = before.begin(), b = now.begin(); a != before.end() || b != now.end();) {
        bool const was = a != before.end() && (b == now.end() || *a <= *b);
        bool const is = b != now.end() && (a == before.end() || *b <= *a);
        Code const code = was ? *a : *b;
        if (was != is) {
            flip(block, code, was);
            counters_->true_codes.set(code, was);
        }
        a += was ? 1 : 0;
        b += is ? 1 : 0;
    }
}

void NodeCounter::flip(Block const& block, Code code, bool on) {
    std::size_t at = column_or_new(block, code);
    BlockCounters& counters = *counters_;
    for (Count const total : totals_) {
        if (total != 0) {  // of many outcomes, few have come
            Count& count = counters.counts[at];
            count = on ? count - total : count + total;  // modulo 2^32, and exact once applied
        }
        at += counters.stride;
    }
}

// Finds the facts that hold only of objects which the node's variables already stand for, in every binding.
void NodeCounter::find_excluded(Block const& block, Truth const& truth) {
    auto& excluded = scratch_.excluded;
    auto const all_taken = [&](Code code) { return scratch_.tally[code] >= truth.counts[code]; };
    if (count_as_one(block)) {
        FactType const& type = type_of(block);
        std::span<Row const> const xs = scratch_.rows[0];
        std::span<Row const> const ys = type.arity == 1 || type.unordered() ? std::span<Row const>{} : scratch_.rows[1];
        if (xs.empty() && ys.empty()) return;
        // Pairs of which one object is taken: many targets in a row ask for them.
        if (type.unordered() && xs.size() == 1) {
            excluded = codes_.only_of(block.type, xs.front());
            return;
        }
        tally_taken_objects(block, xs, ys, truth);
        std::copy_if(scratch_.tallied.begin(), scratch_.tallied.end(), std::back_inserter(excluded), all_taken);
        for (Code const code : scratch_.tallied) scratch_.tally[code] = 0;
    } else {
        bool first = true;
        for (std::uint32_t const i : distinct_bindings(block)) {
            tally_taken_objects(block, taken_rows(block, 0, bindings_[i]), taken_rows(block, 1, bindings_[i]), truth);
            if (std::exchange(first, false))
                std::copy_if(scratch_.tallied.begin(), scratch_.tallied.end(), std::back_inserter(excluded), all_taken);
            else
                std::erase_if(excluded, [&](Code code) { return !all_taken(code); });
            for (Code const code : scratch_.tallied) scratch_.tally[code] = 0;
            if (excluded.empty()) return;
        }
    }
    std::sort(excluded.begin(), excluded.end());
}

// Whether a test of new variables holds in some binding just if it holds of objects that are not taken in all of them,
// which are in `scratch_.rows` then. Of one object that is always so. A pair can have a taken one in each binding, but
// not in three bindings that have no object in common but those.
bool NodeCounter::count_as_one(Block const& block) {
    std::size_t const sides = type_of(block).unordered() ? 1 : type_of(block).arity;
    if (bindings_.size() == 1) {
        for (std::size_t k = 0; k < sides; ++k) taken_rows(block, k, bindings_[0]);
        return true;
    }
    for (std::size_t k = 0; k < sides; ++k) {
        auto const rows = rows_always_taken(block, k);
        scratch_.rows[k].assign(rows.begin(), rows.end());
    }
    if (type_of(block).arity == 1) return true;
    auto const apart = [&](std::uint32_t a, std::uint32_t b) {
        for (std::size_t k = 0; k < sides; ++k) {
            auto const& common = scratch_.rows[k];
            auto const variables = candidates_.table().same_class_variables(block, k);
            for (std::uint32_t const v : variables) {
                Row const row = bindings_[a][v];
                auto const takes = [&](std::uint32_t u) { return bindings_[b][u] == row; };
                if (std::any_of(variables.begin(), variables.end(), takes) &&
                    std::find(common.begin(), common.end(), row) == common.end())
                    return false;
            }
        }
        return true;
    };
    std::uint32_t second = 0;  // none yet
    for (std::uint32_t i = 1; i < bindings_.size(); ++i) {
        if (!apart(0, i)) continue;
        if (second != 0 && apart(second, i)) return true;
        if (second == 0) second = i;
    }
    return false;
}

// Counts, for each fact, the groundings that involve an object of these rows.
void NodeCounter::tally_taken_objects(Block const& block, std::span<Row const> xs, std::span<Row const> ys,
                                      Truth const& truth) {
    FactType const& type = type_of(block);
    auto& tally = scratch_.tally;
    if (tally.size() < truth.counts.size()) tally.resize(truth.counts.size(), 0);
    scratch_.tallied.clear();
    // With distinct values, a taken object has at most two pairs of one difference: only rare facts matter.
    bool const rare = type.arity == 2 && codes_.arithmetic(block.type) && codes_.distinct(type.slots[0]) &&
                      codes_.distinct(type.slots[1]);
    std::size_t const max_groundings = rare ? 2 * (xs.size() + ys.size()) : std::numeric_limits<std::uint32_t>::max();
    auto add = [&](Code code) {
        if (code == no_code || truth.counts[code] > max_groundings) return;
        if (tally[code]++ == 0) scratch_.tallied.push_back(code);
    };
    auto taken = [&](Row row) { return std::find(xs.begin(), xs.end(), row) != xs.end(); };
    if (type.arity == 1) {
        for (Row const x : xs) add(codes_.code(block.type, x));
        return;
    }
    if (type.unordered()) {
        std::size_t const rows = codes_.rows(type.slots[0]);
        for (Row const x : xs)
            for (Row y = 0; y < rows; ++y)
                if (y > x || (y < x && !taken(y))) add(codes_.unordered_code(block.type, x, y));
        return;
    }
    bool const different = type.same_class();
    for (Row const x : xs)
        for (Row y = 0; y < codes_.rows(type.slots[1]); ++y)
            if (!different || x != y) add(codes_.code(block.type, x, y));
    for (Row const y : ys)
        for (Row x = 0; x < codes_.rows(type.slots[0]); ++x)
            if (!taken(x) && (!different || x != y)) add(codes_.code(block.type, x, y));
}

// ---- bindings ----

// The node's variables whose objects decide which tests are true: arguments and same-class variables.
void NodeCounter::find_read_variables(Block const& block, std::vector<std::uint32_t>& read) const {
    read.clear();
    for (std::size_t k = 0; k < type_of(block).arity; ++k) {
        auto const excluded = candidates_.table().same_class_variables(block, k);
        if (!block.is_new[k]) read.push_back(block.variables[k]);
        read.insert(read.end(), excluded.begin(), excluded.end());
    }
}

// One binding for each choice of the objects that the block reads.
std::span<std::uint32_t const> NodeCounter::distinct_bindings(Block const& block) {
    static constexpr std::uint32_t first = 0;
    if (bindings_.size() == 1) return {&first, 1};
    auto& read = scratch_.read_variables;
    find_read_variables(block, read);
    if (read.empty()) return {&first, 1};
    auto& chosen = scratch_.chosen;
    chosen.resize(bindings_.size());
    std::iota(chosen.begin(), chosen.end(), 0u);
    auto compare = [&](std::uint32_t a, std::uint32_t b) -> std::strong_ordering {
        for (std::uint32_t const v : read)
            if (auto const order = bindings_[a][v] <=> bindings_[b][v]; order != 0) return order;
        return std::strong_ordering::equal;
    };
    std::sort(chosen.begin(), chosen.end(), [&](auto a, auto b) { return compare(a, b) < 0; });
    chosen.erase(std::unique(chosen.begin(), chosen.end(), [&](auto a, auto b) { return compare(a, b) == 0; }),
                 chosen.end());
    return chosen;
}

// Rows that a new variable cannot stand for, ascending.
std::span<Row const> NodeCounter::taken_rows(Block const& block, std::size_t argument, std::span<Row const> binding) {
    auto& rows = scratch_.rows[argument];
    rows.clear();
    if (block.same_class_size[argument] == 0) return rows;
    for (std::uint32_t const v : candidates_.table().same_class_variables(block, argument)) rows.push_back(binding[v]);
    if (rows.size() > 1) std::sort(rows.begin(), rows.end());
    return rows;
}

// Rows that a new variable cannot stand for in any of these bindings, ascending.
std::span<Row const> NodeCounter::commonly_taken_rows(Block const& block, std::size_t argument,
                                                      std::span<std::uint32_t const> chosen) {
    taken_rows(block, argument, bindings_[chosen.front()]);
    auto& rows = scratch_.rows[argument];
    auto const variables = candidates_.table().same_class_variables(block, argument);
    for (std::uint32_t const i : chosen.subspan(1)) {
        if (rows.empty()) break;
        std::erase_if(rows, [&](Row row) {
            return std::none_of(variables.begin(), variables.end(), [&](auto v) { return bindings_[i][v] == row; });
        });
    }
    return rows;
}

// All bindings, ordered by the object that a variable stands for; in any order if the variable is new.
std::span<std::uint32_t const> NodeCounter::bindings_by_row(std::uint32_t variable) {
    auto& chosen = scratch_.chosen;
    chosen.resize(bindings_.size());
    std::iota(chosen.begin(), chosen.end(), 0u);
    auto const before = [&](std::uint32_t a, std::uint32_t b) {
        return bindings_[a][variable] < bindings_[b][variable];
    };
    if (variable < bindings_.width && !std::is_sorted(chosen.begin(), chosen.end(), before))
        std::sort(chosen.begin(), chosen.end(), before);
    return chosen;
}

// ---- scratch ----

void NodeCounter::next_epoch(std::size_t type) {
    if (scratch_.marks.size() < codes_.size(type)) scratch_.marks.resize(codes_.size(type), 0);
    if (++scratch_.epoch == 0) {
        std::fill(scratch_.marks.begin(), scratch_.marks.end(), 0);
        scratch_.epoch = 1;
    }
}

}  // namespace treethink
