// code_set.hpp - a set of codes, of which few may be in use among many.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coding/box.hpp"

namespace treethink {

/// One bit for each code, in words; and one for each word that is not empty, so that the others need not be read.
class CodeSet {
public:
    static constexpr std::size_t word_bits = 64;

    /// Makes room for codes below this; codes that are in the set stay.
    void fit(std::size_t size) {
        if (size / word_bits < words_.size()) return;
        words_.resize(size / word_bits + 1, 0);
        used_.resize(words_.size() / word_bits + 1, 0);
    }
    void clear() {
        std::fill(words_.begin(), words_.end(), 0);
        std::fill(used_.begin(), used_.end(), 0);
    }
    [[nodiscard]] bool contains(Code code) const { return (word(code / word_bits) >> (code % word_bits) & 1) != 0; }
    /// Adds a code or takes it out; there is room for it.
    void set(Code code, bool on) {
        std::uint64_t const bit = std::uint64_t{1} << (code % word_bits);
        std::uint64_t const word = words_[code / word_bits];
        set_word(code / word_bits, on ? word | bit : word & ~bit);
    }
    [[nodiscard]] std::uint64_t word(std::size_t w) const { return w < words_.size() ? words_[w] : 0; }
    [[nodiscard]] std::size_t words() const { return words_.size(); }
    void set_word(std::size_t w, std::uint64_t word) {
        words_[w] = word;
        std::uint64_t const bit = std::uint64_t{1} << (w % word_bits);
        if (word != 0)
            used_[w / word_bits] |= bit;
        else
            used_[w / word_bits] &= ~bit;
    }
    [[nodiscard]] bool empty() const {
        return std::all_of(used_.begin(), used_.end(), [](auto word) { return word == 0; });
    }

    /// Calls visit(w) for each word that is not empty in this set or in the other.
    template <class Visit>
    void each_word(CodeSet const& other, Visit&& visit) const {
        std::size_t const end = std::max(used_.size(), other.used_.size());
        for (std::size_t u = 0; u < end; ++u) {
            std::uint64_t rest = (u < used_.size() ? used_[u] : 0) | (u < other.used_.size() ? other.used_[u] : 0);
            for (; rest != 0; rest &= rest - 1) visit(u * word_bits + static_cast<std::size_t>(std::countr_zero(rest)));
        }
    }
    /// Calls visit(code) for each code.
    template <class Visit>
    void each(Visit&& visit) const {
        each_word(*this, [&](std::size_t w) {
            for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
                visit(static_cast<Code>(w * word_bits) + static_cast<Code>(std::countr_zero(rest)));
        });
    }
    [[nodiscard]] std::size_t bytes() const { return (words_.capacity() + used_.capacity()) * sizeof words_[0]; }

private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> used_;  // by word: whether it is not empty
};

}  // namespace treethink
