// group_counting.cpp - counts several targets of one transition at one node.
//
// Of a crowd, most targets do not change, and what is true of one is true of the others: facts about new variables
// hold of all but a few, and the pairs of all objects are counted already (Truth). So a block is counted for the whole
// group, and what differs is taken back.
#include <algorithm>
#include <utility>

#include "learning/counting.hpp"

namespace treethink {

// Whether nothing is left to count until the state changes in what the block is about.
bool NodeCounter::count_block_of_group(std::size_t at, Members members) {
    Block const& block = candidates_.table()[at];
    block_ = at;
    counters_ = candidates_.find(at);
    if (block.mentions == Block::Mentions::bound_and_new && count_partners_of_most(block, members)) return false;
    if (block.mentions == Block::Mentions::only_new && block.has_same_class_variables()) {
        follow_truth_of_group(block, members);
        return false;
    }
    return count_one_by_one(at, members);
}

void take_binding(Scratch& scratch, GroupMember const& member) {
    auto const first = scratch.member_rows.begin() + static_cast<std::ptrdiff_t>(member.binding);
    scratch.bindings.rows.assign(first, first + static_cast<std::ptrdiff_t>(scratch.bindings.width));
}

void NodeCounter::take(GroupMember const& member) {
    take_binding(scratch_, member);
    outcome_ = member.outcome;
}

bool NodeCounter::count_one_by_one(std::size_t at, Members members) {
    bool quiet = false;
    auto& totals = scratch_.running_totals;
    std::size_t counted = 0;
    for (; counted < members.size() && !quiet; ++counted) {
        take(members[counted]);
        quiet = count_block(at);
        ++totals[outcome_];
    }
    for (GroupMember const& each : members.first(counted)) --totals[each.outcome];  // for the next block
    return quiet;
}

// ---- tests that mention a bound object ----

// Counts the pairs of all objects with their partners for the outcome that most members have, and takes back those of
// objects that are no such member. False, having counted nothing, if these are many, or if partners share values: then
// a fact may hold of several.
bool NodeCounter::count_partners_of_most(Block const& block, Members members) {
    FactType const& type = type_of(block);
    std::size_t const bound = block.is_new[0] ? 1 : 0;
    SlotId const partners = type.slots[1 - bound];
    bool const all_but_own = block.same_class_size[1 - bound] == (type.same_class() ? 1 : 0);
    if (!differ_ || block.variables[bound] != 0 || !all_but_own) return false;
    if (!codes_.arithmetic(block.type) || !codes_.distinct(partners)) return false;
    std::size_t const rows = codes_.rows(type.slots[bound]), all_partners = codes_.rows(partners);

    auto& by_outcome = scratch_.counts;
    by_outcome.assign(totals_.size(), 0);
    for (GroupMember const& each : members) ++by_outcome[each.outcome];
    auto const most = std::max_element(by_outcome.begin(), by_outcome.end());
    std::size_t const work = codes_.size(block.type) + (rows - *most) * all_partners;
    if (2 * work > *most * all_partners) return false;
    auto const usual = static_cast<std::uint32_t>(most - by_outcome.begin());

    scratch_.is_member.assign(rows, false);
    for (GroupMember const& each : members) {
        take(each);
        Row const row = bindings_[0][0];
        if (each.outcome == usual)
            scratch_.is_member[row] = true;
        else
            add_partners(block, bound, row, taken_rows(block, 1 - bound, bindings_[0]), false);
    }
    outcome_ = usual;
    Truth const& truth = codes_.truth(block.type);
    tally_all_pairs(block, truth);
    take_back_others(block, bound);
    add_tally(block, truth);
    return true;
}

// Of objects that can change places each pair is in the truth once, and counts in both directions.
void NodeCounter::tally_all_pairs(Block const& block, Truth const& truth) {
    auto& tally = scratch_.tally;
    Code const centre = codes_.centre(block.type);
    bool const both_ways = type_of(block).unordered();
    if (tally.size() < codes_.size(block.type)) tally.resize(codes_.size(block.type), 0);
    truth.true_codes.each([&](Code code) {
        tally[code] += truth.counts[code];
        if (both_ways) tally[2 * centre - code] += truth.counts[code];
    });
}

void NodeCounter::take_back_others(Block const& block, std::size_t bound_argument) {
    FactType const& type = type_of(block);
    SlotId const own = type.slots[bound_argument], partners = type.slots[1 - bound_argument];
    for (Row x = 0; x < codes_.rows(own); ++x) {
        if (scratch_.is_member[x]) continue;
        for (Row y = 0; y < codes_.rows(partners); ++y)
            if (!type.same_class() || x != y)
                --scratch_.tally[bound_argument == 0 ? codes_.code(block.type, x, y) : codes_.code(block.type, y, x)];
    }
}

void NodeCounter::add_tally(Block const& block, Truth const& truth) {
    make_counters(block);
    Code const centre = codes_.centre(block.type);
    bool const both_ways = type_of(block).unordered();
    auto const add = [&](Code code) {
        std::uint32_t const times = std::exchange(scratch_.tally[code], 0);
        if (times == 0) return;
        BlockCounters::Column const column = column_or_new(block, code);
        counters_->counts[outcome_ * counters_->stride + column] += times;
    };
    truth.true_codes.each([&](Code code) {
        add(code);
        if (both_ways) add(2 * centre - code);
    });
}

// ---- tests about new variables only ----

// What is false of a few members only, because it holds of nothing but their own objects, is taken back.
void NodeCounter::follow_truth_of_group(Block const& block, Members members) {
    if (!is_possible(block)) return apply_pending();
    Truth const& truth = codes_.truth(block.type);
    if (excludes_targets_only(block)) {  // two objects make a pair, so nothing is false of all members
        scratch_.excluded.clear();
        follow_to(block, truth);
        return take_back_exclusions(block, truth, members);
    }
    auto& exclusions = scratch_.exclusions;
    exclusions.clear();
    for (GroupMember const& each : members) {
        take(each);
        scratch_.excluded.clear();
        find_excluded(block, truth);
        for (Code const code : scratch_.excluded) exclusions.emplace_back(code, each.outcome);
    }
    take_common_exclusions(members.size());
    follow_to(block, truth);
    if (exclusions.empty()) return;
    make_counters(block);
    for (auto const& [code, outcome] : exclusions) take_back(code, outcome);
}

// Whether new variables must differ from one object, which is another one for each member.
bool NodeCounter::excludes_targets_only(Block const& block) const {
    if (!differ_) return false;
    for (std::size_t k = 0; k < type_of(block).arity; ++k)
        for (std::uint32_t const v : candidates_.table().same_class_variables(block, k))
            if (v != 0) return false;
    return true;
}

void NodeCounter::take_back_exclusions(Block const& block, Truth const& truth, Members members) {
    FactType const& type = type_of(block);
    make_counters(block);
    bool const of_one_value = type.arity == 1 && type.terms == 1 && codes_.arithmetic(block.type);
    for (GroupMember const& each : members) {
        Row const row = scratch_.member_rows[each.binding];
        if (of_one_value) {
            Code const code = codes_.codes(type.slots[0])[row];
            if (truth.counts[code] == 1) take_back(code, each.outcome);
        } else if (type.unordered()) {
            for (Code const code : codes_.only_of(block.type, row)) take_back(code, each.outcome);
        } else {
            take(each);
            scratch_.excluded.clear();
            find_excluded(block, truth);
            for (Code const code : scratch_.excluded) take_back(code, each.outcome);
        }
    }
}

void NodeCounter::take_back(Code code, std::uint32_t outcome) {
    --counters_->counts[outcome * counters_->stride + counters_->column_of[code]];  // modulo 2^32
}

// Moves what is false of all members from `scratch_.exclusions` to `scratch_.excluded`: it was not true of any.
void NodeCounter::take_common_exclusions(std::size_t members) {
    auto& exclusions = scratch_.exclusions;
    auto& common = scratch_.excluded;
    common.clear();
    std::sort(exclusions.begin(), exclusions.end());
    auto kept = exclusions.begin();
    for (auto begin = exclusions.begin(); begin != exclusions.end();) {
        auto const end = std::find_if(begin, exclusions.end(), [&](auto& each) { return each.first != begin->first; });
        if (static_cast<std::size_t>(end - begin) == members)
            common.push_back(begin->first);
        else
            kept = std::copy(begin, end, kept);
        begin = end;
    }
    exclusions.erase(kept, exclusions.end());
}

}  // namespace treethink
