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

/// Counts a target in all candidates of a node.
class NodeCounter {
public:
    NodeCounter(LearningContext& context, Node& node, Bindings const& bindings, std::uint32_t outcome,
                std::uint32_t birth)
        : codes_(context.codes), scratch_(context.scratch), candidates_(node.candidates), totals_(node.stats.totals),
          bindings_(bindings), outcome_(outcome), birth_(birth) {}

    /// Adds one to each candidate that is true; the node's totals are still those before the target.
    void count(Node const& node, NodeShare const& share);

private:
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
    bool add_only_pair(Block const& block);
    [[nodiscard]] bool is_steady(Block const& block) const;

    void follow_truth(Block const& block);
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
    Counts totals_;  // of the node, by outcome
    Bindings const& bindings_;
    std::uint32_t outcome_;
    std::uint32_t birth_;
    std::size_t block_ = 0;              // that is counted now
    BlockCounters* counters_ = nullptr;  // its counters; null: it has none yet
};

}  // namespace treethink
