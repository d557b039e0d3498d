// blocks.hpp - what the candidates of a node can ask.
//
// Candidates that ask the same fact type of the same variables form a block. Which blocks a node has depends on nothing
// but the classes of its variables, so all nodes of a model with variables of the same classes share one table of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "inference/routing.hpp"
#include "learning/fixed_point_log.hpp"

namespace treethink {

/// What all candidates of a block have in common; their counters are a BlockCounters.
struct Block {
    /// Which variables the tests mention: those of the node, new ones, or one of each.
    enum class Mentions : std::uint8_t { bound, bound_and_new, only_new };

    std::uint32_t type = 0;                    // position in fact_types(schema)
    std::array<std::uint32_t, 2> variables{};  // by argument; those from the node's own number on are new
    // By argument: place of its class among the variables in BlockTable, and how many there are; none unless it is new.
    std::array<std::uint16_t, 2> same_class_begin{}, same_class_size{};
    Mentions mentions = Mentions::bound;
    std::array<bool, 2> is_new{};  // by argument: whether the variable is new
    Log description_length = 0;    // of the choice of this block among the node's, in units of a Log

    [[nodiscard]] bool has_same_class_variables() const { return same_class_size[0] > 0 || same_class_size[1] > 0; }
};

/// The classes of a node's variables. Copies share one list: there are many nodes, and few lists.
class VariableClasses {
public:
    VariableClasses() = default;
    explicit VariableClasses(std::vector<ClassId> classes)
        : classes_(std::make_shared<std::vector<ClassId> const>(std::move(classes))) {}

    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the list.
    operator std::vector<ClassId> const&() const { return classes_ ? *classes_ : none(); }
    [[nodiscard]] std::size_t size() const { return classes_ ? classes_->size() : 0; }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::size_t bytes() const;  // on the heap: its share of the list

private:
    [[nodiscard]] static std::vector<ClassId> const& none();

    std::shared_ptr<std::vector<ClassId> const> classes_;  // null: none
};

/// The blocks of nodes whose variables have these classes, in canonical order. Only what is counted has blocks in it.
class BlockTable {
public:
    BlockTable(std::vector<FactType> const& types, std::vector<ClassId> const& classes);

    [[nodiscard]] std::size_t size() const { return blocks_.size(); }
    [[nodiscard]] Block const& operator[](std::size_t block) const { return blocks_[block]; }
    /// If the argument is new: the node's variables of the same class, ascending, from which it must differ.
    [[nodiscard]] std::span<std::uint32_t const> same_class_variables(Block const& block, std::size_t argument) const {
        return std::span(by_class_).subspan(block.same_class_begin[argument], block.same_class_size[argument]);
    }
    /// Words of a set of blocks, which has one bit for each.
    [[nodiscard]] std::size_t words() const { return blocks_.size() / 64 + 1; }
    /// Slots that some fact type is about.
    [[nodiscard]] std::size_t slots() const { return about_.size() / words(); }
    /// The set of blocks whose tests depend on nothing but the state, and on this slot.
    [[nodiscard]] std::span<std::uint64_t const> blocks_about(SlotId slot) const {
        return std::span(about_).subspan(slot * words(), words());
    }
    [[nodiscard]] std::size_t bytes() const;

private:
    void find_blocks_about(std::vector<FactType> const& types);
    [[nodiscard]] Block make_block(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                                   std::size_t type_id, std::array<std::uint32_t, 2> variables) const;

    std::vector<Block> blocks_;
    std::vector<std::uint32_t> by_class_;  // variables by class, then by number
    std::vector<std::uint64_t> about_;     // by slot: a set of blocks
};

/// The tables of a model: each is made once, and kept while a node needs it.
class BlockTables {
public:
    [[nodiscard]] std::shared_ptr<BlockTable const> find_or_make(std::vector<FactType> const& types,
                                                                 std::vector<ClassId> const& classes);
    [[nodiscard]] std::size_t bytes() const;

private:
    std::map<std::vector<ClassId>, std::weak_ptr<BlockTable const>> tables_;
};

/// What can be asked of a node, but for the value.
struct Pattern {
    std::size_t type = 0;                      // position in fact_types(schema)
    std::array<std::uint32_t, 2> variables{};  // by argument; those from the node's own number on are new
    Log description_length = 0;                // of the choice of it, in units of a Log
};

/// Everything that can be asked of a node whose variables have these classes, in canonical order: first what is
/// counted, which are its blocks.
[[nodiscard]] std::vector<Pattern> patterns(std::vector<FactType> const& types, std::vector<ClassId> const& classes);

/// Description length of a value: small numbers are short.
[[nodiscard]] Log length_of_value(VectorView value);

/// Description length of a test that is not counted, at a node whose variables have these classes.
[[nodiscard]] Log length_of_uncounted_test(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                                           Test const& test);

/// How many blocks a node has whose variables have these classes; they are not made.
[[nodiscard]] std::size_t count_blocks(std::vector<FactType> const& types, std::vector<ClassId> const& classes);

/// Which of these a test belongs to, or nothing if it asks about variables that it cannot have. Tests that are not
/// counted belong to blocks that come after all in the table.
[[nodiscard]] std::optional<std::size_t> find_block(std::vector<FactType> const& types,
                                                    std::vector<ClassId> const& classes, Test const& test);

}  // namespace treethink
