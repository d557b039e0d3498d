// candidates.hpp - the tests that a node counts, and their counters.
//
// Candidates that ask the same fact type of the same variables form a block; within a block, a candidate is
// known by the code of its value. A candidate exists from the transition in which its test was first true
// (its birth) until it is forgotten.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "coding/codes.hpp"
#include "inference/routing.hpp"
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

/// All candidates of a node that ask the same fact type of the same variables.
///
/// Each candidate has a column of counters, and each outcome a row: memory is only used for tests that have
/// been true. A test that mentions no variable of the node mostly keeps its truth from one visit to the
/// next, so its counters are only touched when that changes: while its bit is set, the true count is
/// `counter + totals`, and the totals at the moment of change were subtracted.
struct Block {
    /// Which variables the tests mention: those of the node, new ones, or one of each.
    enum class Mentions : std::uint8_t { bound, bound_and_new, only_new };
    using Column = std::uint32_t;
    static constexpr Column kNoColumn = ~Column{0};
    static constexpr std::uint64_t kNoVersion = 0;  // versions are counted from 1

    std::size_t type = 0;                      // position in fact_types(schema)
    std::array<std::uint32_t, 2> variables{};  // by argument; those from the node's own number on are new
    Mentions mentions = Mentions::bound;
    std::array<bool, 2> is_new{};  // by argument: whether the variable is new
    Log description_length = 0;    // of the choice of this block among the node's, in units of a Log
    // By argument, if its variable is new: the node's variables of the same class, from which it must differ.
    std::array<std::vector<std::uint32_t>, 2> same_class_variables;
    // The node's variables whose objects decide which tests are true: arguments and same-class variables.
    std::vector<std::uint32_t> read_variables;

    // By code; kNoColumn: no candidate. Empty in a block from a file until it is counted in, because it is as long as
    // there are codes, however few candidates the block has.
    std::vector<Column> column_of;
    std::vector<Code> codes;                   // by column: the candidate's code
    std::vector<std::uint32_t> births;         // by column: transition in which the test was first true
    std::size_t stride = 0;                    // columns that there is room for: length of a row of counters
    std::vector<Count> counts;                 // observations in which the test held, [outcome][column]
    std::vector<std::uint64_t> true_bits;      // by code: whether the test held at the last visit (only_new)
    std::uint64_t truth_version = kNoVersion;  // Truth::version that `true_bits` follow
    bool has_pending = false;                  // whether any of `true_bits` may be set
    bool has_exclusions = false;               // whether same-class variables made some of that truth false

    [[nodiscard]] bool has_same_class_variables() const {
        return !same_class_variables[0].empty() || !same_class_variables[1].empty();
    }
    [[nodiscard]] std::size_t size() const { return codes.size(); }  // number of candidates
    /// The candidate's column; kNoColumn: the code is no candidate.
    [[nodiscard]] Column find_column(Code code) const;

    /// Makes room for every code there is, and for so many outcomes.
    void fit(Codes const& all_codes, std::size_t outcomes) {
        if (column_of.size() < all_codes.size(type) || counts.size() < outcomes * stride) grow(all_codes, outcomes);
    }
    void fit_outcomes(std::size_t outcomes) {
        if (counts.size() < outcomes * stride) counts.resize(outcomes * stride, 0);
    }
    /// Makes `column_of`, if there is none yet.
    void index_columns();
    /// Makes the code a candidate, with counters at zero; returns its column. Rows of counters may move.
    Column add(Code code, std::uint32_t birth);
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
    /// Drops the candidates of these columns; those whose test is still true come back as new ones.
    void erase(std::vector<Column> const& columns, Counts totals);
    [[nodiscard]] std::size_t bytes() const;  // on the heap

private:
    void grow(Codes const& all_codes, std::size_t outcomes);
    void set_stride(std::size_t new_stride);
};

/// Position of a candidate's counters in its node.
struct CandidateId {
    std::size_t block = 0;
    Code code = no_code;

    bool operator==(CandidateId const&) const = default;
};

/// All candidates of a node.
struct Candidates {
    std::vector<Block> blocks;  // none: the node does not count candidates
    std::uint64_t size = 0;     // tests that have a counter

    void clear() {
        blocks.clear();
        size = 0;
    }
    [[nodiscard]] std::size_t bytes() const;  // on the heap
};

/// The blocks of a node whose variables have these classes.
std::vector<Block> make_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes);

/// How many there are; they are not made.
[[nodiscard]] std::size_t count_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes);

/// Which of these a test belongs to, or nothing if it asks about variables that it cannot have.
[[nodiscard]] std::optional<std::size_t> find_block(std::vector<FactType> const& types,
                                                    std::vector<ClassId> const& classes, Test const& test);

/// The test of a candidate.
[[nodiscard]] Test test_of(Codes const& codes, Node const& node, CandidateId candidate);

/// Order in which equally good tests are preferred: low cost (cost_of), then small values, then by type,
/// variables and value.
[[nodiscard]] std::strong_ordering canonical_order(std::vector<FactType> const& types, std::size_t variables,
                                                   Test const& a, Test const& b);

/// Description length (MDL) of a candidate: that of its block and that of its value, where small numbers are short.
[[nodiscard]] Log description_length(Codes const& codes, Block const& block, Code code);

/// How many candidates the node, one of `nodes` of its rule, may have while it learns from this state:
/// max_candidates or fewer (see above).
[[nodiscard]] std::uint64_t candidate_limit(LearningContext const& context, Node const& node, std::size_t nodes);

/// If the node has too many candidates, drops the least useful (fewest times true, then oldest, then least
/// preferred) until seven eighths of the limit are left, so that the next ones can be added without
/// looking at all of them again. Returns how many were dropped.
std::uint64_t forget_candidates(LearningContext& context, Node& node, std::size_t nodes);

/// Marks the codes of a type that candidates use.
void mark_used_codes(Candidates const& candidates, std::size_t type, std::vector<bool>& used);

}  // namespace treethink
