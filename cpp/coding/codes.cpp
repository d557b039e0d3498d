#include "coding/codes.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace treethink {

Codes::Codes(std::shared_ptr<Schema const> schema)
    : schema_(std::move(schema)), fact_codes_(*schema_), columns_(schema_->slots().size()), truth_(types().size()) {
    for (FactType const& type : types())
        for (std::size_t k = 0; k < type.arity; ++k) {
            columns_[type.slots[k]].in_facts = true;
            columns_[type.slots[k]].in_pair_facts |= type.arity == 2;
        }
    for (std::size_t s = 0; s < columns_.size(); ++s)
        columns_[s].column = std::make_shared<Column>(schema_->length(SlotId(s)), std::vector<Int>{});
}

std::vector<Recoding> Codes::set_state(State const& state) {
    find_changed_columns(state);
    if (changed_.empty()) return {};
    std::vector<AttributeId> const outgrown = outgrown_attributes(state);
    // In a box no difference can overflow, so only what leaves it needs the check.
    for (AttributeId const attribute : outgrown) check_range(state, attribute);
    for (SlotId const slot : changed_) columns_[slot].column = state.column(slot);
    truth_.state_changed();
    std::vector<Recoding> recodings;
    for (AttributeId const attribute : outgrown) grow_box(attribute, recodings);
    for (SlotId const slot : changed_) {
        columns_[slot].version = ++column_version_;
        if (fact_codes_.box(attribute_of(slot)).dense()) encode(slot);
    }
    return recodings;
}

void Codes::check(State const& state, State const* checked) const {
    std::vector<bool> is_checked(schema_->attributes().size(), false);
    for (std::size_t s = 0; s < columns_.size(); ++s) {
        if (checked != nullptr && state.column(SlotId(s)) == checked->column(SlotId(s))) continue;
        AttributeId const attribute = attribute_of(s);
        if (!is_checked[attribute]) check_range(state, attribute);
        is_checked[attribute] = true;
    }
}

void Codes::find_changed_columns(State const& state) {
    changed_.clear();
    for (std::size_t s = 0; s < columns_.size(); ++s) {
        CodedColumn& known = columns_[s];
        State::ColumnPtr const& column = state.column(SlotId(s));
        if (!known.in_facts || known.column == column) continue;
        if (*known.column == *column)
            known.column = column;  // so that the next comparison is one of pointers
        else
            changed_.emplace_back(s);
    }
}

/// Attributes of changed columns that have values outside of their box, or no dense box.
std::vector<AttributeId> Codes::outgrown_attributes(State const& state) const {
    std::vector<AttributeId> outgrown;
    for (SlotId const slot : changed_) {
        AttributeId const attribute = attribute_of(slot);
        bool const is_listed = std::find(outgrown.begin(), outgrown.end(), attribute) != outgrown.end();
        if (!is_listed && !in_box(*state.column(slot), attribute)) outgrown.push_back(attribute);
    }
    return outgrown;
}

bool Codes::in_box(Column const& column, AttributeId attribute) const {
    Box const& box = fact_codes_.box(attribute);
    if (!box.dense()) return false;
    for (std::size_t i = 0; i < column.rows(); ++i)
        if (!box.contains(column.row(i))) return false;
    return true;
}

void Codes::check_range(State const& state, AttributeId attribute) const {
    Attribute const& checked = schema_->attributes()[attribute];
    for (std::size_t d = 0; d < checked.length; ++d) {
        Int low = 0, high = 0, range = 0;
        bool first = true;
        for (std::size_t s = 0; s < columns_.size(); ++s) {
            if (!columns_[s].in_pair_facts || attribute_of(s) != attribute) continue;
            std::vector<Int> const& values = state.column(SlotId(s))->values();
            for (std::size_t i = d; i < values.size(); i += checked.length, first = false) {
                low = first ? values[i] : std::min(low, values[i]);
                high = first ? values[i] : std::max(high, values[i]);
            }
        }
        if (!subtract(high, low, range))
            throw StateError("attribute '" + checked.name + "' has values so far apart (" + std::to_string(low) +
                             " and " + std::to_string(high) +
                             ") that their difference does not fit 64 bits; give it facts without 'difference'");
    }
}

/// Makes the attribute's box contain all values of the current state.
void Codes::grow_box(AttributeId attribute, std::vector<Recoding>& recodings) {
    Vector low, high;
    std::size_t values = 0;
    for (std::size_t s = 0; s < columns_.size(); ++s) {
        if (!columns_[s].in_facts || attribute_of(s) != attribute) continue;
        Column const& column = *columns_[s].column;
        values += column.rows();
        for (std::size_t i = 0; i < column.rows(); ++i) {
            VectorView const value = column.row(i);
            if (low.empty()) {
                low.assign(value.begin(), value.end());
                high = low;
            }
            for (std::size_t d = 0; d < value.size(); ++d) {
                low[d] = std::min(low[d], value[d]);
                high[d] = std::max(high[d], value[d]);
            }
        }
    }
    if (values > 0) set_box(attribute, fact_codes_.box(attribute).grown(low, high, values), recodings);
}

void Codes::set_box(AttributeId attribute, Box box, std::vector<Recoding>& recodings) {
    for (Recoding& recoding : fact_codes_.set_box(attribute, std::move(box))) {
        truth_.clear(recoding.type);
        recodings.push_back(std::move(recoding));
    }
    if (!fact_codes_.box(attribute).dense()) return;
    for (std::size_t s = 0; s < columns_.size(); ++s)
        if (columns_[s].in_facts && attribute_of(s) == attribute) encode(SlotId(s));
}

void Codes::encode(SlotId slot) {
    CodedColumn& coded = columns_[slot];
    Box const& box = fact_codes_.box(attribute_of(slot));
    std::size_t const rows = coded.rows();
    coded.codes.resize(rows);
    coded.distinct = true;
    if (last_seen_.size() < box.width()) last_seen_.resize(box.width(), 0);
    ++encode_calls_;
    for (std::size_t i = 0; i < rows; ++i) {
        Code const code = box.code(coded.column->row(i));
        coded.codes[i] = code;
        if (last_seen_[code] == encode_calls_) coded.distinct = false;
        last_seen_[code] = encode_calls_;
    }
}

Recoding Codes::collect(std::size_t type, std::vector<bool> used) {
    truth_.mark_true(type, used);
    Recoding recoding = fact_codes_.drop_unused(type, used);
    truth_.recode(recoding, fact_codes_.size(type));
    return recoding;
}

std::size_t Codes::bytes() const {
    std::size_t bytes = sizeof *this - sizeof fact_codes_ - sizeof truth_;
    bytes += fact_codes_.bytes() + truth_.bytes() + last_seen_.capacity() * sizeof last_seen_[0];
    for (CodedColumn const& each : columns_) bytes += sizeof each + each.codes.capacity() * sizeof(Code);
    return bytes;
}

}  // namespace treethink
