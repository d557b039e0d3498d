// candidates.hpp - the tests that a node counts, and their counters.
//
// Within a block (blocks.hpp), a candidate is known by the code of its value. It exists from the transition in which
// its test was first true (its birth) until it is forgotten.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "coding/codes.hpp"
#include "inference/routing.hpp"
#include "learning/blocks.hpp"
#include "learning/criterion.hpp"
#include "learning/fixed_point_log.hpp"

namespace treethink {

struct LearningContext;
struct Node;

/// Candidates of one node are at most so many for each object in the state. That is far more than finite worlds need;
/// where values never come again, as with a clock or on an endless plane, it keeps nodes small.
inline constexpr std::uint64_t candidates_per_object = 256;
/// Fewer objects than this count as so many.
inline constexpr std::uint64_t min_objects = 32;
/// Counters of one node: candidates times outcomes. A rule whose outcomes are many counts fewer tests.
inline constexpr std::uint64_t max_node_counters = std::uint64_t{1} << 20;
/// Counters of all nodes of a rule, which share them equally. A growing score that is told by its value has a node for
/// every value it ever had, and each of them would count all values.
inline constexpr std::uint64_t max_rule_counters = std::uint64_t{1} << 22;
/// A block with few candidates takes as much memory as so many counters, beside one for each outcome.
inline constexpr std::uint64_t counters_per_block = 64;
/// Outcomes of a rule times rules that vary. A model with twice as many has half the counters, and so on: it is likely
/// noise.
inline constexpr std::uint64_t few_outcomes = 1'024;

/// What the rules of a model that vary share equally is Settings::max_counters. This is what a node of one of them
/// gets: many rules whose outcomes and facts never come again would take any memory and time otherwise.
struct NodeShare {
    std::uint64_t candidates;  // may have at most so many
    std::uint64_t blocks;      // counts in so many, the first of its table: a test of one object comes first

    /// Whether a node counts the tests of a block: the one of its own test always.
    [[nodiscard]] bool includes(Node const& node, std::size_t block) const;
};

/// The share of each node of a rule that tells so many outcomes apart.
[[nodiscard]] NodeShare share_of_node(LearningContext const& context, std::size_t nodes, std::size_t outcomes);

/// The counters of a block in a node.
///
/// Each candidate has a column of counters, and each outcome a row: memory is only used for tests that have
/// been true. A test that mentions no variable of the node mostly keeps its truth from one visit to the
/// next, so its counters are only touched when that changes: while its code is in `true_codes`, the true count is
/// `counter + totals`, and the totals at the moment of change were subtracted.
struct BlockCounters {
    using Column = std::uint32_t;
    static constexpr Column kNoColumn = ~Column{0};
    static constexpr std::uint64_t kNoVersion = 0;  // versions are counted from 1

    // What every visit reads comes first.
    std::uint64_t truth_version = kNoVersion;  // Truth::version that `true_codes` follow
    bool has_pending = false;                  // whether `true_codes` may have any
    std::vector<Code> excluded;                // true codes that same-class variables made false then, ascending
    std::size_t stride = 0;                    // columns that there is room for: length of a row of counters
    // By code; kNoColumn: no candidate. Empty in a block from a file until it is counted in, because it is as long as
    // there are codes, however few candidates the block has.
    std::vector<Column> column_of;
    std::vector<Count> counts;          // observations in which the test held, [outcome][column]
    std::vector<Code> codes;            // by column: the candidate's code
    std::vector<std::uint32_t> births;  // by column: transition in which the test was first true
    CodeSet true_codes;                 // those whose tests held at the last visit (only_new)

    [[nodiscard]] std::size_t size() const { return codes.size(); }  // number of candidates
    /// The candidate's column; kNoColumn: the code is no candidate.
    [[nodiscard]] Column find_column(Code code) const;

    /// Makes room for every code of the block's fact type, and for so many outcomes.
    void fit(Codes const& all_codes, std::size_t type, std::size_t outcomes) {
        if (column_of.size() < all_codes.size(type) || counts.size() < outcomes * stride)
            grow(all_codes, type, outcomes);
    }
    void fit_outcomes(std::size_t outcomes);
    /// Makes `column_of`, if there is none yet.
    void index_columns();
    /// Makes the code a candidate, with counters at zero; returns its column. Rows of counters may move.
    Column add(Code code, std::uint32_t birth, std::size_t outcomes);
    /// Adds all pending totals, so that counters stand for themselves.
    void apply_pending(Counts totals);
    /// Writes how often a candidate was true, by outcome, pending totals included.
    void read_counts(Code code, Counts totals, std::vector<Count>& out) const {
        read_column(find_column(code), totals, out);
    }
    /// The same for the candidate of a column.
    void read_column(Column column, Counts totals, std::vector<Count>& out) const;
    /// All counters, pending totals included: rows of `stride` columns. `room` is used if a copy is needed.
    [[nodiscard]] Count const* all_counts(Counts totals, std::vector<Count>& room) const;
    /// Renumbers all candidates; `size` codes are in use afterwards. Pending totals are applied.
    void recode(std::vector<Code> const& new_code, Code size, Counts totals);
    /// Adds up the counters of outcomes that are merged; `new_place` says where each outcome goes, of `outcomes`.
    void merge_outcomes(std::vector<std::uint32_t> const& new_place, std::size_t outcomes, Counts totals);
    /// Drops the candidates of these codes; those whose test is still true come back as new ones.
    void erase(std::span<Code const> unwanted, Counts totals);
    [[nodiscard]] std::size_t bytes() const;  // on the heap

private:
    void grow(Codes const& all_codes, std::size_t type, std::size_t outcomes);
    void set_stride(std::size_t new_stride);
};

/// Position of a candidate's counters in its node.
struct CandidateId {
    std::size_t block = 0;
    Code code = no_code;

    bool operator==(CandidateId const&) const = default;
};

/// All candidates of a node. Blocks in which no test was ever true have no counters, and cost nothing.
class Candidates {
public:
    /// Counts candidates of these blocks from now on.
    void start(std::shared_ptr<BlockTable const> table) { table_ = std::move(table); }
    /// Forgets all candidates, and counts none any more.
    void stop() { *this = {}; }
    /// Forgets all candidates of the blocks that are unwanted, by block, and frees their counters. Returns how many.
    std::uint64_t drop_blocks(std::vector<bool> const& unwanted);
    [[nodiscard]] bool are_counted() const { return table_ != nullptr; }

    /// Only while candidates are counted.
    [[nodiscard]] BlockTable const& table() const { return *table_; }
    /// The counters of a block; null: it has none.
    [[nodiscard]] BlockCounters const* find(std::size_t block) const {
        return place_of_.empty() || place_of_[block] == kNoPlace ? nullptr : &counters_[place_of_[block]];
    }
    [[nodiscard]] BlockCounters* find(std::size_t block) {
        return const_cast<BlockCounters*>(std::as_const(*this).find(block));
    }
    /// The same; makes them if there are none. Those of other blocks may move.
    BlockCounters& find_or_make(std::size_t block);
    /// Calls visit(block, counters) for each block that has counters, in order.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::size_t block = 0; block < place_of_.size(); ++block)
            if (BlockCounters const* const counters = find(block)) visit(block, *counters);
    }
    template <class Visit>
    void each(Visit&& visit) {
        quiet_.clear();
        for (std::size_t block = 0; block < place_of_.size(); ++block)
            if (BlockCounters* const counters = find(block)) visit(block, *counters);
    }
    [[nodiscard]] std::size_t bytes() const;  // on the heap; the table is shared

    /// Ends the quiet of all blocks: each() does that too.
    void wake_all() { quiet_.clear(); }
    /// Calls visit(block) for each of the first `end` blocks in which there may be something to count. It returns
    /// whether there will be nothing until the state changes in what the block is about.
    template <class Visit>
    void each_to_count(Codes const& codes, std::size_t end, Visit&& visit) {
        counts_crowds_ = counts_crowds_ || counted_in_ == codes.step();
        wake(codes);
        for (std::size_t w = 0; w * 64 < end; ++w) {
            std::uint64_t const all = end - w * 64 < 64 ? (std::uint64_t{1} << (end - w * 64)) - 1 : ~std::uint64_t{0};
            for (std::uint64_t rest = all & ~quiet_[w]; rest != 0; rest &= rest - 1)
                if (visit(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)))) quiet_[w] |= rest & (0 - rest);
        }
    }

    /// Whether several targets of one state were ever counted.
    [[nodiscard]] bool counts_crowds() const { return counts_crowds_; }
    void note_crowd() { counts_crowds_ = true; }

    std::uint64_t size = 0;  // tests that have a counter

private:
    /// Ends the quiet of blocks about columns that have changed since the last call.
    void wake(Codes const& codes);

    static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

    std::shared_ptr<BlockTable const> table_;  // null: the node does not count candidates
    std::vector<BlockCounters> counters_;      // in the order in which they were made
    std::vector<std::uint32_t> place_of_;      // by block: place in `counters_`; empty while there are none
    std::vector<std::uint64_t> quiet_;         // set of blocks, see each_to_count(); empty: none is quiet
    std::uint64_t counted_in_ = 0;             // Codes::step() of the last call of wake()
    bool counts_crowds_ = false;
};

/// The test of a candidate.
[[nodiscard]] Test test_of(Codes const& codes, Node const& node, CandidateId candidate);

/// Order in which equally good tests are preferred: low cost (cost_of), then small values, then by type,
/// variables and value.
[[nodiscard]] std::strong_ordering canonical_order(std::vector<FactType> const& types, std::size_t variables,
                                                   Test const& a, Test const& b);

/// Description length (MDL) of a candidate: that of its block and that of its value, where small numbers are short.
[[nodiscard]] Log description_length(Codes const& codes, Block const& block, Code code);

/// The same of a branch's test, which may not be a candidate; and how often it held, by outcome. Only while the branch
/// counts its candidates.
[[nodiscard]] Log length_of_test(Codes const& codes, Node const& branch);
void read_test_counts(Node const& branch, std::vector<Count>& out);

/// How many candidates the node, one of `nodes` of its rule, may have while it learns from this state:
/// max_candidates or fewer (see above).
[[nodiscard]] std::uint64_t candidate_limit(LearningContext const& context, Node const& node, std::size_t nodes,
                                            NodeShare const& share);

/// Drops the candidates of blocks that the node's share does not include. If it still has too many, drops the least
/// useful (fewest times true, then oldest, then least preferred) until seven eighths of the limit are left, so that
/// the next ones can be added without looking at all of them again. Returns how many were dropped.
std::uint64_t forget_candidates(LearningContext& context, Node& node, std::size_t nodes, NodeShare const& share);

/// Marks the codes of a type that candidates use.
void mark_used_codes(Candidates const& candidates, std::size_t type, std::vector<bool>& used);

}  // namespace treethink
