// conditions.hpp - QORA's conditions, and their answers for a target.
//
// A condition is a set of predicates, sorted, so that those about the same class stand together: they
// are evaluated on the same object, and are called a group. The answer of a group is the set of truth
// vectors that occur among the objects of its class (including the target, if it is one of them). The
// answer of a condition consists of those of its groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qora/predicates.hpp"
#include "qora/target_facts.hpp"

namespace treethink::qora {

/// The answer of a condition as a number, which identifies and orders the cases of a table.
///
/// A group of m predicates has 2^m truth vectors, read as numbers with the first predicate as the lowest
/// bit; its answer is the number with those bits set. The groups' answers are the digits, the first group
/// the least. `WideKey` is that number for conditions of more than 64 bits, written from its highest digit:
/// for each vector that occurs, largest first, a 1 and its words, then a 0. They compare as the numbers do.
using WideKey = std::vector<std::uint64_t>;

[[nodiscard]] inline std::size_t words_for(std::size_t predicates) { return (predicates + 63) / 64; }

/// Calls visit(first, end), positions in the condition, for each of its groups, in order.
template <class GroupOf, class Visit>
void each_group(Condition condition, GroupOf&& group, Visit&& visit) {
    for (std::size_t first = 0, end = 0; first < condition.size(); first = end) {
        while (end < condition.size() && group(condition[end]) == group(condition[first])) ++end;
        visit(first, end);
    }
}

/// More bits than a narrow key has.
inline constexpr std::size_t too_many_bits = 65;
/// How many bits an answer has; too_many_bits: more than 64.
[[nodiscard]] std::size_t answer_bits(Condition condition, Predicates const& predicates);

/// Computes the answers of conditions.
class Evaluator {
public:
    /// For conditions of at most 64 bits.
    template <class Facts>
    [[nodiscard]] std::uint64_t narrow(Condition condition, Facts const& facts) {
        std::uint64_t key = 0;
        unsigned shift = 0;
        for (std::size_t first = 0, end = 0; first < condition.size(); first = end) {
            Group const group = facts.group(condition[first]);
            while (end < condition.size() && facts.group(condition[end]) == group) ++end;
            key |= answer(condition.subspan(first, end - first), facts, facts.rows(group)) << shift;
            shift += 1U << (end - first);
        }
        return key;
    }

    /// For any condition.
    template <class Facts>
    [[nodiscard]] WideKey wide(Condition condition, Facts const& facts) {
        WideKey key;
        for (std::size_t end = condition.size(), first = end; end > 0; end = first) {
            Group const group = facts.group(condition[end - 1]);
            while (first > 0 && facts.group(condition[first - 1]) == group) --first;
            append_vectors(condition.subspan(first, end - first), facts, facts.rows(group), key);
            key.push_back(0);
        }
        return key;
    }

private:
    template <class Facts>
    std::uint64_t answer(Condition group, Facts const& facts, std::size_t rows) {
        if (group.size() == 1) {
            std::size_t const count = facts.count(group[0]);
            return (count > 0 ? 2U : 0U) | (count < rows ? 1U : 0U);
        }
        find_truth_vectors(group, facts, rows);
        std::uint64_t bits = touched_.size() < rows ? 1 : 0;
        for (Row const row : touched_) {
            bits |= std::uint64_t{1} << vectors_[row];
            vectors_[row] = 0;
        }
        return bits;
    }

    /// Sets vectors_ for all rows for which any of the predicates holds, and lists those rows in touched_.
    template <class Facts>
    void find_truth_vectors(Condition group, Facts const& facts, std::size_t rows) {
        std::size_t const words = words_for(group.size());
        touched_.clear();
        if (vectors_.size() < rows * words) vectors_.resize(rows * words, 0);
        for (std::size_t j = 0; j < group.size(); ++j)
            facts.each_row(group[j], [&](Row row) {
                auto const vector = std::span(vectors_).subspan(row * words, words);
                bool const untouched = std::all_of(vector.begin(), vector.end(), [](auto word) { return word == 0; });
                if (untouched) touched_.push_back(row);
                vector[j / 64] |= std::uint64_t{1} << (j % 64);
            });
    }

    template <class Facts>
    void append_vectors(Condition group, Facts const& facts, std::size_t rows, WideKey& key) {
        std::size_t const words = words_for(group.size());
        find_truth_vectors(group, facts, rows);
        std::vector<std::vector<std::uint64_t>> distinct;
        if (touched_.size() < rows) distinct.emplace_back(words, 0);
        for (Row const row : touched_) {
            auto const vector = std::span(vectors_).subspan(row * words, words);
            distinct.emplace_back(vector.rbegin(), vector.rend());
            std::fill(vector.begin(), vector.end(), 0);
        }
        std::sort(distinct.rbegin(), distinct.rend());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        for (auto const& each : distinct) {
            key.push_back(1);
            key.insert(key.end(), each.begin(), each.end());
        }
    }

    std::vector<std::uint64_t> vectors_;  // truth vector by row; all zero between calls
    std::vector<Row> touched_;            // rows whose truth vector is not zero
};

}  // namespace treethink::qora
