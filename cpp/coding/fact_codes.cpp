#include "coding/fact_codes.hpp"

#include <utility>

namespace treethink {

namespace {

// Fewer interned values than this are never cleaned up.
constexpr Code min_crowd = 4096;

// A box as the table of one fact type: of values (one term) or of differences (two).

Code size_in(Box const& box, std::size_t terms) { return terms == 1 ? box.width() : box.table_size(); }

void read_value_in(Box const& box, std::size_t terms, Code code, Vector& out) {
    if (terms == 1)
        box.read_value(code, out);
    else
        box.read_difference(code, out);
}

Code find_in(Box const& box, std::size_t terms, VectorView value) {
    return terms == 1 ? box.find(value) : box.find_difference(value);
}

Vector copy_of(VectorView value) { return {value.begin(), value.end()}; }

}  // namespace

FactCodes::FactCodes(Schema const& schema)
    : types_(fact_types(schema)), boxes_(schema.attributes().size()),
      crowded_above_(treethink::counted_types(types_), min_crowd) {
    interners_.reserve(crowded_above_.size());
    for (std::size_t t = 0; t < crowded_above_.size(); ++t) interners_.emplace_back(types_[t].value_length);
}

void FactCodes::read_value(std::size_t type, Code code, Vector& out) const {
    if (arithmetic(type)) return read_value_in(box_of(type), types_[type].terms, code, out);
    VectorView const value = interners_[type].value(code);
    out.assign(value.begin(), value.end());
}

Code FactCodes::find(std::size_t type, VectorView value) const {
    if (!arithmetic(type)) return interners_[type].find(value);
    return find_in(box_of(type), types_[type].terms, value);
}

// The box makes room although codes are not arithmetic yet. So it contains every value that was ever met, and none is
// lost when codes become arithmetic. Until then a value takes no more memory than its own: a table of all that lies
// between the values of a file may be much larger than the file.
Code FactCodes::admit(std::size_t type, VectorView value) {
    if (Code const known = interners_[type].find(value); known != no_code) return known;
    FactType const& fact = types_[type];
    Box& box = boxes_[fact.unit];
    if (fact.linear) box = fact.terms == 1 ? box.stretched(value) : box.widened(value);
    return interners_[type].intern(value);
}

Code FactCodes::intern_fact(std::size_t type, VectorView x, VectorView y) {
    Buffer value(types_[type].value_length);
    if (!types_[type].value(x, y, value.data())) return no_code;
    return interners_[type].intern(value.view());
}

Code FactCodes::intern_unordered_fact(std::size_t type, VectorView x, VectorView y) {
    FactKind const& kind = *types_[type].kind;
    Buffer value(types_[type].value_length);
    if (!kind.value(x, y, value.data())) return no_code;
    Buffer swapped = value;
    kind.swap(swapped.data(), types_[type].value_length);
    return interners_[type].intern(less(value.view(), swapped.view()) ? swapped.view() : value.view());
}

std::vector<Recoding> FactCodes::set_box(AttributeId unit, Box box) {
    Box const old = std::exchange(boxes_[unit], std::move(box));
    std::vector<Recoding> recodings;
    if (!old.dense() && !boxes_[unit].dense()) return recodings;  // interned before and after
    for (std::size_t t = 0; t < counted_types(); ++t)
        if (types_[t].unit == unit && types_[t].linear) recodings.push_back(renumber(t, old));
    return recodings;
}

Recoding FactCodes::renumber(std::size_t type, Box const& old_box) {
    std::size_t const terms = types_[type].terms;
    Box const& box = box_of(type);
    Interner& interner = interners_[type];
    Recoding recoding{type, {}};
    Code const old_size = old_box.dense() ? size_in(old_box, terms) : interner.size();
    recoding.new_code.reserve(old_size);
    Vector value;
    for (Code code = 0; code < old_size; ++code) {
        if (old_box.dense())
            read_value_in(old_box, terms, code, value);
        else
            value = copy_of(interner.value(code));
        recoding.new_code.push_back(box.dense() ? find_in(box, terms, value) : interner.intern(value));
    }
    return recoding;
}

Recoding FactCodes::drop_unused(std::size_t type, std::vector<bool> const& used) {
    Interner const old = std::exchange(interners_[type], Interner(types_[type].value_length));
    Recoding recoding{type, std::vector<Code>(old.size(), no_code)};
    for (Code code = 0; code < old.size(); ++code)
        if (used[code]) recoding.new_code[code] = interners_[type].intern(old.value(code));
    crowded_above_[type] = min_crowd + 2 * interners_[type].size();
    return recoding;
}

std::size_t FactCodes::bytes() const {
    std::size_t bytes = sizeof *this;
    for (Interner const& interner : interners_) bytes += interner.bytes();
    return bytes;
}

}  // namespace treethink
