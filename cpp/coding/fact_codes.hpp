// fact_codes.hpp - facts to small numbers, so that counting is array access.
//
// Every fact type numbers its facts: a code stands for a value. Where the values of all
// attributes of a unit lie in a small box, codes are arithmetic: a vector is read as a number in mixed
// radix, wide enough that the code of a difference is the difference of codes. Elsewhere,
// values are interned: they get codes in the order in which they are first seen. Codes never
// influence a decision. They may be renumbered (a box grows, unused values are dropped);
// whoever stores codes must then apply the Recoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coding/box.hpp"
#include "coding/interner.hpp"
#include "core/facts.hpp"

namespace treethink {

/// New codes for the facts of one type.
struct Recoding {
    std::size_t type;
    std::vector<Code> new_code;  // by old code; no_code: dropped
};

/// The codes of all facts of a schema, by fact type and value.
class FactCodes {
public:
    explicit FactCodes(Schema const& schema);

    [[nodiscard]] std::vector<FactType> const& types() const { return types_; }
    /// Only the first so many types have codes.
    [[nodiscard]] std::size_t counted_types() const { return interners_.size(); }
    [[nodiscard]] Box const& box(AttributeId unit) const { return boxes_[unit]; }

    /// Whether codes of the type come from its unit's box. Otherwise values are interned.
    [[nodiscard]] bool arithmetic(std::size_t type) const { return types_[type].linear && box_of(type).dense(); }
    /// Arithmetic codes of pairs: code(x, y) = code(y) - code(x) + centre.
    [[nodiscard]] Code centre(std::size_t type) const { return box_of(type).centre(); }
    /// All codes of the type are below this.
    [[nodiscard]] Code size(std::size_t type) const {
        if (!arithmetic(type)) return interners_[type].size();
        return types_[type].terms == 1 ? box_of(type).width() : box_of(type).table_size();
    }
    [[nodiscard]] Vector value(std::size_t type, Code code) const {
        Vector value;
        read_value(type, code, value);
        return value;
    }
    /// The same, into a vector that is used again and again.
    void read_value(std::size_t type, Code code, Vector& out) const;
    /// no_code: the value has no code yet.
    [[nodiscard]] Code find(std::size_t type, VectorView value) const;

    /// The code of a value, which gets one if it is new. Only where codes are not arithmetic.
    Code intern(std::size_t type, VectorView value) { return interners_[type].intern(value); }
    /// The same for a value from a file: no state has had it in this process. Only before the first state.
    Code admit(std::size_t type, VectorView value);
    /// The same for the fact whose terms have these values; no_code: the fact has no value.
    [[nodiscard]] Code intern_fact(std::size_t type, VectorView x, VectorView y);
    /// For objects that can change places: the code for the pair in the order that makes its value the larger one.
    [[nodiscard]] Code intern_unordered_fact(std::size_t type, VectorView x, VectorView y);

    /// Gives a unit another box. Returns how the codes of its fact types change.
    std::vector<Recoding> set_box(AttributeId unit, Box box);

    /// Whether so many values are interned that dropping unused ones is worth its cost.
    [[nodiscard]] bool crowded(std::size_t type) const {
        return !arithmetic(type) && interners_[type].size() > crowded_above_[type];
    }
    /// Drops the interned values whose codes are not in `used`.
    Recoding drop_unused(std::size_t type, std::vector<bool> const& used);

    [[nodiscard]] std::size_t bytes() const;

private:
    [[nodiscard]] Box const& box_of(std::size_t type) const { return boxes_[types_[type].unit]; }
    [[nodiscard]] Recoding renumber(std::size_t type, Box const& old_box);

    std::vector<FactType> types_;
    std::vector<Box> boxes_;           // by unit
    std::vector<Interner> interners_;  // by type; used where codes are not arithmetic
    std::vector<Code> crowded_above_;  // by type: number of interned values that makes a clean-up worth its cost
};

}  // namespace treethink
