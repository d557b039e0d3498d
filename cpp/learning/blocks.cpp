#include "learning/blocks.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace treethink {

namespace {

// A test is described in two parts: its block, and its value (description_length in candidates.cpp). Blocks share one
// prior: the share halves for each new variable, for each that is not tied to an older one, and for an absolute vector.
// So rules come out as a person would write them.
std::uint64_t share_of(FactType const& type, std::size_t introduced) {
    return std::uint64_t{1} << (max_cost - cost_of(type, introduced));
}

void set_description_lengths(std::vector<FactType> const& types, std::vector<Block>& blocks) {
    auto const share = [&](Block const& block) {
        FactType const& type = types[block.type];
        std::size_t const introduced = static_cast<std::size_t>(block.is_new[0]) + (type.arity == 2 && block.is_new[1]);
        return share_of(type, introduced);
    };
    std::uint64_t all = 0;
    for (Block const& block : blocks) all += share(block);
    for (Block& block : blocks)
        block.description_length = log_of(static_cast<double>(all)) - log_of(static_cast<double>(share(block)));
}

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

std::vector<ClassId> const& VariableClasses::none() {
    static auto const& none = *new std::vector<ClassId> const();  // never destroyed, see thread_exit.cpp
    return none;
}

std::size_t VariableClasses::bytes() const {
    return classes_ ? size() * sizeof(ClassId) / static_cast<std::size_t>(classes_.use_count()) : 0;
}

// ---- tables ----

BlockTable::BlockTable(std::vector<FactType> const& types, std::vector<ClassId> const& classes)
    : by_class_(classes.size()) {
    std::iota(by_class_.begin(), by_class_.end(), 0u);
    std::stable_sort(by_class_.begin(), by_class_.end(), [&](auto a, auto b) { return classes[a] < classes[b]; });
    std::size_t const count = treethink::count_blocks(types, classes);
    blocks_.reserve(count);
    for (std::size_t t = 0; t < counted_types(types); ++t)
        each_block(types[t], classes,
                   [&](Variables variables) { blocks_.push_back(make_block(types, classes, t, variables)); });
    assert(blocks_.size() == count);
    set_description_lengths(types, blocks_);
    find_blocks_about(types);
}

void BlockTable::find_blocks_about(std::vector<FactType> const& types) {
    std::size_t slots = 0;
    for (FactType const& type : types)
        for (std::size_t k = 0; k < type.terms; ++k) slots = std::max(slots, type.slots[k] + std::size_t{1});
    about_.assign(slots * words(), 0);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        Block const& block = blocks_[b];
        if (block.mentions != Block::Mentions::only_new || block.has_same_class_variables()) continue;
        FactType const& type = types[block.type];
        for (std::size_t k = 0; k < type.terms; ++k)
            about_[type.slots[k] * words() + b / 64] |= std::uint64_t{1} << (b % 64);
    }
}

Block BlockTable::make_block(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                             std::size_t type_id, Variables variables) const {
    FactType const& type = types[type_id];
    Block block;
    block.type = static_cast<std::uint32_t>(type_id);
    block.variables = variables;
    std::size_t introduced = 0;
    for (std::size_t k = 0; k < type.arity; ++k) {
        block.is_new[k] = variables[k] >= classes.size();
        if (!block.is_new[k]) continue;
        ++introduced;
        auto const begin = std::partition_point(by_class_.begin(), by_class_.end(),
                                                [&](auto v) { return classes[v] < type.classes[k]; });
        auto const end =
            std::partition_point(begin, by_class_.end(), [&](auto v) { return classes[v] == type.classes[k]; });
        block.same_class_begin[k] = static_cast<std::uint16_t>(begin - by_class_.begin());
        block.same_class_size[k] = static_cast<std::uint16_t>(end - begin);
    }
    block.mentions = introduced == 0            ? Block::Mentions::bound
                     : introduced == type.arity ? Block::Mentions::only_new
                                                : Block::Mentions::bound_and_new;
    return block;
}

std::size_t BlockTable::bytes() const {
    return sizeof *this + blocks_.capacity() * sizeof(Block) + by_class_.capacity() * sizeof(std::uint32_t) +
           about_.capacity() * sizeof about_[0];
}

std::shared_ptr<BlockTable const> BlockTables::find_or_make(std::vector<FactType> const& types,
                                                            std::vector<ClassId> const& classes) {
    auto const known = tables_.find(classes);
    if (known != tables_.end())
        if (auto table = known->second.lock()) return table;
    auto table = std::make_shared<BlockTable const>(types, classes);
    std::erase_if(tables_, [](auto const& each) { return each.second.expired(); });
    tables_[classes] = table;
    return table;
}

std::size_t BlockTables::bytes() const {
    std::size_t bytes = sizeof *this;
    for (auto const& [classes, weak] : tables_) {
        bytes += sizeof(classes) + sizeof(weak) + classes.capacity() * sizeof(ClassId);
        if (auto const table = weak.lock()) bytes += table->bytes();
    }
    return bytes;
}

// ---- patterns ----

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

// What is not counted is described by a choice among all that can be asked, and one of two: that it is not counted; of
// a component, one of a hundred. An edge of the room is as good as the wall that stands there in all that was seen, and
// means nothing in a larger room: so places have to explain surely more than relations.
std::vector<Pattern> patterns(std::vector<FactType> const& types, std::vector<ClassId> const& classes) {
    std::vector<Pattern> patterns;
    std::vector<std::uint64_t> shares;
    std::uint64_t counted = 0, whole = 0, all = 0;
    for (std::size_t t = 0; t < types.size(); ++t)
        each_block(types[t], classes, [&](Variables variables) {
            std::size_t introduced = 0;
            for (std::size_t k = 0; k < types[t].arity; ++k) introduced += variables[k] >= classes.size();
            patterns.push_back({t, variables, 0});
            shares.push_back(share_of(types[t], introduced));
            all += shares.back();
            if (types[t].counted) counted += shares.back();
            if (!types[t].component) whole += shares.back();
        });
    auto const log_sum = [](std::uint64_t sum) { return log_of(static_cast<double>(std::max<std::uint64_t>(sum, 1))); };
    Log const log_counted = log_sum(counted);
    Log const log_whole = log_sum(whole) + LogTables::get().number(2);
    Log const log_all = log_sum(all) + LogTables::get().number(100);
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        FactType const& type = types[patterns[p].type];
        Log const log_choice = type.counted ? log_counted : type.component ? log_all : log_whole;
        patterns[p].description_length = log_choice - log_of(static_cast<double>(shares[p]));
    }
    return patterns;
}

Log length_of_uncounted_test(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                             Test const& test) {
    for (Pattern const& each : patterns(types, classes))
        if (each.type == test.type && each.variables == test.variables)
            return each.description_length + length_of_value(test.value);
    return 0;
}

// ---- blocks by number ----

std::size_t count_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes) {
    return count_blocks(types, counted_types(types), classes);
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

}  // namespace treethink
