#include "learning/selection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "learning/counting.hpp"

namespace treethink {

namespace {

std::uint64_t magnitude(Int value) {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

std::uint64_t l1(VectorView value) {
    std::uint64_t sum = 0;
    for (Int const each : value) {
        std::uint64_t const size = magnitude(each);
        sum = sum > std::numeric_limits<std::uint64_t>::max() - size ? std::numeric_limits<std::uint64_t>::max()
                                                                     : sum + size;
    }
    return sum;
}

// The counters of a block, pending ones included: rows of `stride` codes.
Count const* all_counts(Block const& block, Counts totals, std::vector<Count>& room) {
    bool const complete = block.counts.size() == totals.size() * block.stride;
    if (complete && std::all_of(block.bits.begin(), block.bits.end(), [](auto word) { return word == 0; }))
        return block.counts.data();
    room.assign(totals.size() * block.stride, 0);
    std::copy(block.counts.begin(), block.counts.end(), room.begin());
    for (std::size_t w = 0; w < block.bits.size(); ++w)
        for (std::uint64_t rest = block.bits[w]; rest != 0; rest &= rest - 1) {
            std::size_t const code = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
            for (std::size_t y = 0; y < totals.size(); ++y) room[y * block.stride + code] += totals[y];
        }
    return room.data();
}

class Search {
public:
    Search(Learning& learning, Node const& node) : learning_(learning), node_(node) {}

    void offer(CandidateId candidate, double score) {
        if (score < floor()) return;
        if (!best_ || score > best_->score + margin() || beats(candidate)) best_ = {candidate, score};
    }
    // Scores below this cannot win.
    [[nodiscard]] double floor() const {
        return best_ ? best_->score - margin() : -std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] std::optional<Best> best() const { return best_; }

private:
    [[nodiscard]] double margin() const { return learning_.criterion.margin(best_->score); }

    bool beats(CandidateId candidate) {
        CandidateId const old = best_->candidate;
        read_counts(node_.blocks[candidate.block], candidate.code, node_.totals, mine_);
        read_counts(node_.blocks[old.block], old.code, node_.totals, theirs_);
        if (mine_ != theirs_) {
            auto const order = learning_.criterion.compare(mine_, theirs_, node_.sample());
            if (order != 0) return order > 0;
        }
        return canonical_order(learning_.codes.types(), node_.classes.size(),
                               test_of(learning_.codes, node_, candidate), test_of(learning_.codes, node_, old)) < 0;
    }

    Learning& learning_;
    Node const& node_;
    std::optional<Best> best_;
    std::vector<Count> mine_, theirs_;
};

struct Entry {
    std::uint64_t times;
    std::uint32_t birth;
    CandidateId id;

    [[nodiscard]] auto rank() const { return std::pair(times, birth); }
};

std::vector<Entry> removable(Learning& learning, Node const& node) {
    std::vector<Entry> entries;
    for (std::size_t b = 0; b < node.blocks.size(); ++b) {
        Block const& block = node.blocks[b];
        if (block.stride == 0) continue;
        Count const* const counts = all_counts(block, node.totals, learning.scratch.counts);
        for (Code code = 0; code < block.stride; ++code) {
            if (block.births[code] == 0) continue;
            if (!node.is_leaf() && b == node.test_block && code == node.test_code) continue;
            std::uint64_t times = 0;
            for (std::size_t y = 0; y < node.totals.size(); ++y) times += counts[y * block.stride + code];
            entries.push_back({times, block.births[code], {b, code}});
        }
    }
    return entries;
}

// Puts the `n` entries that rank least in front. Only where the cut falls between entries of equal
// rank is canonical order asked (the less preferred go first): there are many, and comparing tests is slow.
void put_least_first(Learning& learning, Node const& node, std::vector<Entry>& entries, std::uint64_t n) {
    if (n >= entries.size()) return;
    auto const at = [&](std::uint64_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(entries.begin(), at(n), entries.end(), [](auto& a, auto& b) { return a.rank() < b.rank(); });
    auto const cut = at(n)->rank();
    auto const tied = std::partition(entries.begin(), entries.end(), [&](auto& each) { return each.rank() < cut; });
    auto const end = std::partition(tied, entries.end(), [&](auto& each) { return each.rank() == cut; });
    std::vector<std::pair<Test, Entry>> tests;
    for (auto each = tied; each != end; ++each) tests.emplace_back(test_of(learning.codes, node, each->id), *each);
    auto const wanted = tests.begin() + (at(n) - tied);
    std::nth_element(tests.begin(), wanted, tests.end(), [&](auto& a, auto& b) {
        return canonical_order(learning.codes.types(), node.classes.size(), a.first, b.first) > 0;
    });
    std::transform(tests.begin(), tests.end(), tied, [](auto& each) { return each.second; });
}

void erase_candidate(Node& node, CandidateId id) {
    Block& block = node.blocks[id.block];
    for (std::size_t at = id.code; at < block.counts.size(); at += block.stride) block.counts[at] = 0;
    block.births[id.code] = 0;
    if (block.bit(id.code)) block.bits[id.code / 64] &= ~(std::uint64_t{1} << (id.code % 64));
    block.version = 0;  // what is still true then comes back as a new candidate
}

// What the candidate's length takes off its score.
double price(Learning const& learning, Node const& node, CandidateId id) {
    if (!learning.criterion.weighs_evidence()) return 0;
    Block const& block = node.blocks[id.block];
    Log const length = block.length + length_of_value(learning.codes.value(block.type, id.code));
    return static_cast<double>(length);
}

}  // namespace

Log length_of_value(VectorView value) {
    LogTables const& logs = LogTables::get();
    Log length = 0;
    for (Int const each : value) {
        std::uint64_t const size = magnitude(each);
        length += logs.number(size + 1) + logs.number(size + 2) + (each == 0 ? 0 : logs.number(2));
    }
    return length;
}

std::strong_ordering canonical_order(std::vector<FactType> const& types, std::size_t variables, Test const& a,
                                     Test const& b) {
    FactType const& x = types[a.type];
    FactType const& y = types[b.type];
    auto const cost_a = cost_of(x, new_variables(x, a, variables)), cost_b = cost_of(y, new_variables(y, b, variables));
    if (cost_a != cost_b) return cost_a <=> cost_b;
    if (auto const order = l1(a.value) <=> l1(b.value); order != 0) return order;
    if (auto const order = a.type <=> b.type; order != 0) return order;
    for (std::size_t k = 0; k < x.arity; ++k)
        if (auto const order = a.variables[k] <=> b.variables[k]; order != 0) return order;
    return a.value <=> b.value;
}

Test test_of(Codes const& codes, Node const& node, CandidateId candidate) {
    Block const& block = node.blocks[candidate.block];
    return {block.type, block.variables, codes.value(block.type, candidate.code)};
}

std::optional<Best> best_candidate(Learning& learning, Node const& node, std::optional<CandidateId> except) {
    Search search(learning, node);
    auto& scores = learning.scratch.scores;
    for (std::size_t b = 0; b < node.blocks.size(); ++b) {
        Block const& block = node.blocks[b];
        if (block.stride == 0) continue;
        Count const* const counts = all_counts(block, node.totals, learning.scratch.counts);
        learning.criterion.scores(counts, block.stride, block.stride, node.sample(), scores);
        for (Code code = 0; code < block.stride; ++code) {
            if (scores[code] < search.floor() || block.births[code] == 0) continue;
            if (except && except->block == b && except->code == code) continue;
            search.offer({b, code}, scores[code] - price(learning, node, {b, code}));
        }
    }
    return search.best();
}

double score_without_test(Learning& learning, Node const& node) {
    auto& counts = learning.scratch.counts;
    counts.assign(node.totals.size(), 0);
    return learning.criterion.score(counts, {node.totals});
}

double score_of_test(Learning& learning, Node const& node) {
    auto& counts = learning.scratch.counts;
    read_counts(node.blocks[node.test_block], node.test_code, node.totals, counts);
    return learning.criterion.score(counts, {node.totals});
}

double price_of_test(Learning const& learning, Node const& node) {
    return price(learning, node, {node.test_block, node.test_code});
}

Standing standing(Learning& learning, Node const& node) {
    Criterion const& criterion = learning.criterion;
    auto& counts = learning.scratch.counts;
    counts.assign(node.totals.size(), 0);
    double const none = criterion.score(counts, node.sample());
    if (node.is_leaf()) return {none, none, criterion.to_beat(counts, node.sample(), none)};
    read_counts(node.blocks[node.test_block], node.test_code, node.totals, counts);
    double const now = criterion.score(counts, node.sample()) - price_of_test(learning, node);
    return {none, now, criterion.to_beat(counts, node.sample(), now)};
}

std::uint64_t forget_candidates(Learning& learning, Node& node, std::uint64_t most) {
    if (node.candidates <= most) return 0;
    std::vector<Entry> entries = removable(learning, node);
    std::uint64_t const surplus = std::min<std::uint64_t>(node.candidates - most, entries.size());
    put_least_first(learning, node, entries, surplus);
    for (std::uint64_t i = 0; i < surplus; ++i) erase_candidate(node, entries[i].id);
    node.candidates -= surplus;
    return surplus;
}

}  // namespace treethink
