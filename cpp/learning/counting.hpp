// counting.hpp - updates a node's candidates for one target.
//
// Only what is true, or what changed its truth, is touched. Three cases by what a test mentions:
//   bound variables only       one fact per binding: add one
//   a bound and a new one      one fact per partner object: add one to each
//   new ones only              the truth of the state itself: follow its changes (see Block)
#pragma once

#include "learning/tree.hpp"

namespace treethink {

/// The blocks of a node whose variables have these classes.
std::vector<Block> make_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes);

/// Which of these a test belongs to, or nothing: it then asks about variables that it cannot have.
[[nodiscard]] std::optional<std::size_t> find_block(std::vector<FactType> const& types,
                                                    std::vector<ClassId> const& classes, Test const& test);

/// Makes room in a block for every code there is, and for so many outcomes.
void grow_block(Block& block, Codes const& codes, std::size_t outcomes);
inline void fit_block(Block& block, Codes const& codes, std::size_t outcomes) {
    if (block.stride < codes.size(block.type) || block.counts.size() < outcomes * block.stride)
        grow_block(block, codes, outcomes);
}

/// Settles all pending counts of a block, so that its counters stand for themselves.
void settle(Block& block, Counts totals);

/// A candidate's times true by outcome, pending counts included.
void read_counts(Block const& block, Code code, Counts totals, std::vector<Count>& out);

class NodeCounter {
public:
    NodeCounter(Learning& learning, Node& node, Bindings const& bindings, std::uint32_t outcome, std::uint32_t birth)
        : codes_(learning.codes), scratch_(learning.scratch), node_(node), bindings_(bindings), outcome_(outcome),
          birth_(birth) {}

    /// Counts the target in every candidate; the node's totals are still those before it.
    void count();

private:
    void count_bound(Block& block);
    void count_partners(Block& block);
    void count_free(Block& block);

    void add_partners(Block& block, std::size_t bound_argument, Row row, std::span<Row const> skip, bool once);
    template <bool Once, class CodeOf>
    void add_rows(Block& block, std::size_t rows, std::span<Row const> skip, CodeOf code_of);
    void add_one(Block& block, Code code, bool once);
    bool add_only_pair(Block& block);

    void follow(Block& block);
    void find_excluded(Block& block, Truth const& truth);
    void tally_rivals(Block& block, std::span<Row const> binding, Truth const& truth);
    void flip(Block& block, Code code, bool on);

    [[nodiscard]] std::span<std::uint32_t const> different_bindings(Block const& block);
    [[nodiscard]] std::span<Row const> rival_rows(Block const& block, std::size_t argument,
                                                  std::span<Row const> binding);
    [[nodiscard]] FactType const& type_of(Block const& block) const { return codes_.types()[block.type]; }
    void next_epoch(std::size_t type);

    Codes& codes_;
    Scratch& scratch_;
    Node& node_;
    Bindings const& bindings_;
    std::uint32_t outcome_;
    std::uint32_t birth_;
};

}  // namespace treethink
