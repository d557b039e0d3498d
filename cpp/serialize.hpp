// serialize.hpp - numbers and trees to bytes and back, checked at every step.
//
// A model's body is a sequence of variable-length numbers: seven bits a byte, least significant
// first. Signed ones are folded (0, -1, 1, -2, ...). Nothing in it depends on the layout of memory,
// so equal models have equal bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/frame.hpp"
#include "core/state.hpp"

namespace treethink {

class Codes;
class Criterion;
class Tree;

class Writer {
public:
    void number(std::uint64_t value);
    void integer(Int value);
    void vector(VectorView value);
    [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

/// Throws ModelFileError whenever the bytes cannot have come from a Writer.
class Reader {
public:
    explicit Reader(std::span<std::uint8_t const> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t number();
    /// A number of at most `max`; `what` names it in the error.
    [[nodiscard]] std::uint64_t number(std::uint64_t max, char const* what);
    /// How many things follow: never more than there are bytes left.
    [[nodiscard]] std::size_t count(char const* what);
    [[nodiscard]] Int integer();
    [[nodiscard]] Vector vector(std::size_t length);
    [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
    /// Bytes that have not been read.
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

private:
    std::span<std::uint8_t const> bytes_;
    std::size_t at_ = 0;  // of the next byte
};

/// What the outcomes of one rule can be.
struct OutcomeLimits {
    std::size_t length = 1;                      // of outcomes other than kStays
    Frame usual;                                 // the frame of rules that files name none for
    std::function<std::vector<Frame>()> frames;  // others that the rule can have; empty: none
    bool may_stay = true;                        // whether a value can stay what it is: feedback has none
    bool takes_looks = false;                    // whether its nodes are looked at again
};

/// Writes a tree; candidates by value, so that nothing depends on codes. `usual`: a frame that needs no writing.
void save_tree(Writer& out, Tree const& tree, Codes const& codes, Frame const& usual = {});
/// Reads into a tree that has seen nothing, with codes that have followed no state yet. Throws ModelFileError for
/// anything that save_tree() could not have written.
void load_tree(Reader& in, Tree& tree, Codes& codes, Criterion const& criterion, OutcomeLimits const& limits,
               bool branch_updates);

}  // namespace treethink
