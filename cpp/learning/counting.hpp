// counting.hpp - counts one target at a node.
//
// Only what is true, or what changed its truth, is touched. Three cases by what a test mentions:
//   bound variables only       one fact per binding: add one
//   a bound and a new one      one fact per partner object: add one to each
//   new ones only              the truth of the state itself: follow its changes (see BlockCounters)
#pragma once

#include "learning/context.hpp"
#include "learning/node.hpp"

namespace treethink {

/// When targets are counted. Transitions are counted from 1.
struct CountingTime {
    std::uint64_t transition;  // number of the tree's current transition: the birth of new candidates
    std::uint64_t stamp;       // differs between any two transitions, also if they are replayed
};

/// Counts a target whose bindings at the node are in `context.scratch` (the paper's updateTests, first half):
/// its outcome, and every candidate in its share that is true of it. Returns false if the node learns no more.
bool count_target(LearningContext& context, Node& node, std::uint32_t outcome, CountingTime time,
                  NodeShare const& share);

/// So many targets of one transition at one node are counted as a group.
inline constexpr std::size_t min_group = 4;

/// The same for some targets of one transition that reach the node, all in `context.scratch`: what is true of most of
/// them is counted once. The node's count stays below max_counted.
void count_group(LearningContext& context, Node& node, std::span<GroupMember const> members, CountingTime time,
                 NodeShare const& share);

/// Makes the binding of a member the one in `scratch.bindings`, whose width is that of the node.
void take_binding(Scratch& scratch, GroupMember const& member);

/// Counts a target in all candidates of a node, or a group of them.
class NodeCounter {
public:
    NodeCounter(LearningContext& context, Node& node, Bindings const& bindings, std::uint32_t outcome,
                std::uint32_t birth)
        : codes_(context.codes), scratch_(context.scratch), candidates_(node.candidates), totals_(node.stats.totals),
          bindings_(bindings), outcome_(outcome), birth_(birth) {}

    /// Adds one to each candidate that is true; the node's totals are still those before the target.
    void count(Node const& node, NodeShare const& share);
    /// The same for a group: adds one for each member of which a candidate is true (group_counting.cpp).
    void count_group(Node const& node, NodeShare const& share, std::span<GroupMember const> members);

private:
    template <class CountBlock>
    void each_block(Node const& node, NodeShare const& share, CountBlock&& count_block);
    bool count_block(std::size_t block);
    void count_bound(Block const& block);
    void count_partners(Block const& block);
    bool count_only_new(Block const& block);

    void add_partners(Block const& block, std::size_t bound_argument, Row row, std::span<Row const> skip, bool once);
    template <bool Once, class CodeOf>
    void add_rows(Block const& block, std::size_t rows, std::span<Row const> skip, CodeOf code_of);
    template <class CodeOf>
    void add_values(Block const& block, SlotId slot, std::span<Row const> skip, CodeOf code_of);
    void add_one(Block const& block, Code code, bool once);
    BlockCounters::Column add_candidate(Block const& block, Code code);
    BlockCounters::Column column_or_new(Block const& block, Code code) {
        BlockCounters::Column const column = counters_->column_of[code];
        return column != BlockCounters::kNoColumn ? column : add_candidate(block, code);
    }
    // Where a node's variables stand for many objects (many_bindings.cpp).
    bool count_bound_in_box(Block const& block);
    bool count_partners_as_set(Block const& block, std::size_t bound_argument);
    void find_codes_where_same_are_taken(Block const& block, std::size_t bound_argument, std::span<Row const> taken,
                                         bool or_own);
    void find_codes_of_partners(Block const& block, std::size_t bound_argument);
    void add_codes(Block const& block);
    [[nodiscard]] std::span<Row const> rows_always_taken(Block const& block, std::size_t argument);

    bool add_only_pair(Block const& block);
    [[nodiscard]] bool is_steady(Block const& block) const;
    [[nodiscard]] bool is_possible(Block const& block) const;

    using Members = std::span<GroupMember const>;
    bool count_block_of_group(std::size_t block, Members members);
    bool count_one_by_one(std::size_t block, Members members);
    bool count_partners_of_most(Block const& block, Members members);
    void tally_all_pairs(Block const& block, Truth const& truth);
    void take_back_others(Block const& block, std::size_t bound_argument);
    void add_tally(Block const& block, Truth const& truth);
    void follow_truth_of_group(Block const& block, Members members);
    [[nodiscard]] bool excludes_targets_only(Block const& block) const;
    void take_back_exclusions(Block const& block, Truth const& truth, Members members);
    void take_back(Code code, std::uint32_t outcome);
    void take_common_exclusions(std::size_t members);
    void take(GroupMember const& member);

    void follow_truth(Block const& block);
    void follow_to(Block const& block, Truth const& truth);
    void follow_all(Block const& block, Truth const& truth);
    void follow_exclusions(Block const& block);
    void find_excluded(Block const& block, Truth const& truth);
    bool count_as_one(Block const& block);
    void tally_taken_objects(Block const& block, std::span<Row const> xs, std::span<Row const> ys, Truth const& truth);
    void flip(Block const& block, Code code, bool on);

    /// Makes counters, if there are none yet, and room in them.
    void make_counters(Block const& block) {
        if (counters_ == nullptr) counters_ = &candidates_.find_or_make(block_);
        counters_->fit(codes_, block.type, totals_.size());
    }
    void apply_pending();
    void find_read_variables(Block const& block, std::vector<std::uint32_t>& read) const;
    [[nodiscard]] std::span<std::uint32_t const> distinct_bindings(Block const& block);
    // What these two return stays in `scratch_.rows`.
    std::span<Row const> taken_rows(Block const& block, std::size_t argument, std::span<Row const> binding);
    std::span<Row const> commonly_taken_rows(Block const& block, std::size_t argument,
                                             std::span<std::uint32_t const> chosen);
    [[nodiscard]] std::span<std::uint32_t const> bindings_by_row(std::uint32_t variable);
    [[nodiscard]] FactType const& type_of(Block const& block) const { return codes_.types()[block.type]; }
    void next_epoch(std::size_t type);

    Codes& codes_;
    Scratch& scratch_;
    Candidates& candidates_;
    Counts totals_;  // of the node, by outcome; in a group: with the members before this one
    Bindings const& bindings_;
    std::uint32_t outcome_;
    std::uint32_t birth_;
    bool differ_ = false;  // whether the first variable stands for another object in each member of the group
    // Same-class variables that `scratch_.always_taken` is about, as a Block has them.
    std::pair<std::uint16_t, std::uint16_t> always_taken_of_{0, 0xffff};
    std::size_t block_ = 0;              // that is counted now
    BlockCounters* counters_ = nullptr;  // its counters; null: it has none yet
};

}  // namespace treethink
