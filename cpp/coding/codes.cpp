#include "coding/codes.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace treethink {

namespace {

// A column that changes once in so many steps on average, or has not changed for four times as many, is steady.
constexpr std::uint64_t steady_gap = 16;
// When so many objects were asked for (see Codes::only_of), the others will be.
constexpr std::size_t many_asked = 16;

}  // namespace

Codes::Codes(std::shared_ptr<Schema const> schema)
    : schema_(std::move(schema)), fact_codes_(*schema_), columns_(schema_->columns().size()), truth_(counted_types()),
      only_of_(counted_types()) {
    for (FactType const& type : std::span(types()).first(counted_types()))
        for (std::size_t k = 0; k < type.terms; ++k) {
            columns_[type.slots[k]].in_facts = true;
            columns_[type.slots[k]].in_pair_facts |= type.terms == 2;
        }
    for (std::size_t s = 0; s < columns_.size(); ++s)
        columns_[s].column = std::make_shared<Column>(schema_->length(SlotId(s)), std::vector<Int>{});
}

std::vector<Recoding> Codes::set_state(State const& state, bool replayed) {
    ++step_;
    bool const follows = !replayed && !replayed_;  // the one before in the stream
    replayed_ = replayed;
    find_changed_columns(state);
    if (changed_.empty()) return {};
    std::vector<AttributeId> const outgrown = outgrown_units(state);
    // In a box no difference can overflow, so only what leaves it needs the check.
    for (AttributeId const unit : outgrown) check_range(state, unit);
    for (SlotId const slot : changed_) columns_[slot].column = state.column(slot);
    truth_.state_changed();
    std::vector<Recoding> recodings;
    for (AttributeId const unit : outgrown) grow_box(unit, recodings);
    for (SlotId const slot : changed_) {
        CodedColumn& column = columns_[slot];
        column.version = ++column_version_;
        if (follows) column.mean_gap = (3 * column.mean_gap + step_ - column.changed_in) / 4;
        column.changed_in = step_;
        if (fact_codes_.box(unit_of(slot)).dense()) encode(slot);
    }
    return recodings;
}

void Codes::check(State const& state, State const* checked) const {
    std::vector<bool> is_checked(schema_->attributes().size(), false);
    for (std::size_t s = 0; s < columns_.size(); ++s) {
        if (checked != nullptr && state.column(SlotId(s)) == checked->column(SlotId(s))) continue;
        AttributeId const unit = unit_of(s);
        if (!is_checked[unit]) check_range(state, unit);
        is_checked[unit] = true;
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

/// Units of changed columns that have values outside of their box, or no dense box.
std::vector<AttributeId> Codes::outgrown_units(State const& state) const {
    std::vector<AttributeId> outgrown;
    for (SlotId const slot : changed_) {
        AttributeId const unit = unit_of(slot);
        bool const is_listed = std::find(outgrown.begin(), outgrown.end(), unit) != outgrown.end();
        if (!is_listed && !in_box(*state.column(slot), unit)) outgrown.push_back(unit);
    }
    return outgrown;
}

bool Codes::in_box(Column const& column, AttributeId unit) const {
    Box const& box = fact_codes_.box(unit);
    if (!box.dense()) return false;
    for (std::size_t i = 0; i < column.rows(); ++i)
        if (!box.contains(column.row(i))) return false;
    return true;
}

void Codes::refuse_range(std::pair<Int, std::size_t> low, std::pair<Int, std::size_t> high) const {
    auto const name = [&](std::size_t slot) { return "'" + schema_->attribute(SlotId(slot)).name + "'"; };
    for (std::size_t const each : {low.second, high.second}) {
        if (each < schema_->slots().size()) continue;
        SlotId const step = schema_->terms_of(SlotId(each))[1];
        throw StateError("the sum " + name(each) + " lies so far from other values of its unit (" +
                         std::to_string(low.first) + " and " + std::to_string(high.first) +
                         ") that their difference does not fit 64 bits; give " + name(step) +
                         " facts without 'difference'");
    }
    bool const same = name(low.second) == name(high.second);
    throw StateError((same ? "attribute " + name(low.second) + " has"
                           : "attributes " + name(low.second) + " and " + name(high.second) + ", of one unit, have") +
                     " values so far apart (" + std::to_string(low.first) + " and " + std::to_string(high.first) +
                     ") that their difference does not fit 64 bits; give " + (same ? "it" : "them") +
                     " facts without 'difference'");
}

void Codes::check_range(State const& state, AttributeId unit) const {
    using Extreme = std::pair<Int, std::size_t>;  // a value and its column
    std::size_t const length = schema_->attribute(unit).length;
    for (std::size_t d = 0; d < length; ++d) {
        std::optional<Extreme> low, high;
        for (std::size_t s = 0; s < columns_.size(); ++s) {
            if (!columns_[s].in_pair_facts || unit_of(s) != unit) continue;
            std::vector<Int> const& values = state.column(SlotId(s))->values();
            for (std::size_t i = d; i < values.size(); i += length) {
                if (!low || values[i] < low->first) low = {values[i], s};
                if (!high || values[i] > high->first) high = {values[i], s};
            }
        }
        Int range = 0;
        if (low && !subtract(high->first, low->first, range)) refuse_range(*low, *high);
    }
}

/// Makes the unit's box contain all values of the current state.
void Codes::grow_box(AttributeId unit, std::vector<Recoding>& recodings) {
    Vector low, high;
    std::size_t values = 0;
    for (std::size_t s = 0; s < columns_.size(); ++s) {
        if (!columns_[s].in_facts || unit_of(s) != unit) continue;
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
    if (values > 0) set_box(unit, fact_codes_.box(unit).grown(low, high, values), recodings);
}

void Codes::set_box(AttributeId unit, Box box, std::vector<Recoding>& recodings) {
    for (Recoding& recoding : fact_codes_.set_box(unit, std::move(box))) {
        truth_.clear(recoding.type);
        recodings.push_back(std::move(recoding));
    }
    if (!fact_codes_.box(unit).dense()) return;
    for (std::size_t s = 0; s < columns_.size(); ++s)
        if (columns_[s].in_facts && unit_of(s) == unit) encode(SlotId(s));
}

void Codes::encode(SlotId slot) {
    CodedColumn& coded = columns_[slot];
    Box const& box = fact_codes_.box(unit_of(slot));
    std::size_t const rows = coded.rows();
    coded.codes.resize(rows);
    coded.values.clear();
    coded.rows_of.clear();
    if (last_seen_.size() < box.width()) {
        last_seen_.resize(box.width(), 0);
        place_of_.resize(box.width(), 0);
    }
    ++encode_calls_;
    for (std::size_t i = 0; i < rows; ++i) {
        Code const code = box.code(coded.column->row(i));
        coded.codes[i] = code;
        if (std::exchange(last_seen_[code], encode_calls_) != encode_calls_) {
            place_of_[code] = static_cast<std::uint32_t>(coded.values.size());
            coded.values.push_back(code);
            coded.rows_of.push_back(0);
        }
        ++coded.rows_of[place_of_[code]];
    }
    coded.distinct = coded.values.size() == rows;
}

bool Codes::is_steady(SlotId slot) const {
    CodedColumn const& column = columns_[slot];
    return (!replayed_ && column.mean_gap >= steady_gap) || step_ - column.changed_in >= 4 * steady_gap;
}

std::vector<Code> const& Codes::only_of(std::size_t type, Row x) {
    Truth const& truth = this->truth(type);
    CodedColumn const& column = columns_[types()[type].slots[0]];
    if (!only_of_[type]) only_of_[type] = std::make_unique<OnlyOf>();
    OnlyOf& known = *only_of_[type];
    if (known.column_version != column.version || known.truth_version != truth.version) {
        known.column_version = column.version;
        known.truth_version = truth.version;
        known.by_row.resize(column.rows());
        known.is_known.assign(column.rows(), false);
        known.asked = 0;
    }
    if (!known.is_known[x] && (++known.asked != many_asked || !find_only_of_all(type, truth, known))) {
        find_only_of(type, x, truth, known.by_row[x]);
        known.is_known[x] = true;
    }
    return known.by_row[x];
}

void Codes::find_only_of(std::size_t type, Row x, Truth const& truth, std::vector<Code>& only) {
    CodedColumn const& column = columns_[types()[type].slots[0]];
    auto const rows = static_cast<Row>(column.rows());
    bool const in_box = arithmetic(type);
    // With distinct values, an object has at most two pairs of one difference.
    std::uint32_t const most = in_box && column.distinct ? 2 : rows;
    if (tally_.size() < truth.counts.size()) tally_.resize(truth.counts.size(), 0);
    only.clear();
    tallied_.clear();
    auto const add = [&](Code code) {
        if (code == no_code || truth.counts[code] > most) return;
        if (tally_[code]++ == 0) tallied_.push_back(code);
        if (tally_[code] == truth.counts[code]) only.push_back(code);
    };
    auto const add_rows = [&](Row from, Row to) {
        if (in_box) {
            Code const own = column.codes[x], centre = this->centre(type);
            for (Row y = from; y < to; ++y)
                add((own > column.codes[y] ? own - column.codes[y] : column.codes[y] - own) + centre);
        } else {
            for (Row y = from; y < to; ++y) add(unordered_code(type, x, y));
        }
    };
    add_rows(0, x);
    add_rows(x + 1, rows);
    for (Code const code : tallied_) tally_[code] = 0;
    std::sort(only.begin(), only.end());
}

// The same for all objects, from the few facts that hold for few pairs. False, having found nothing, if they are many.
bool Codes::find_only_of_all(std::size_t type, Truth const& truth, OnlyOf& known) {
    CodedColumn const& column = columns_[types()[type].slots[0]];
    if (!arithmetic(type)) return false;
    std::size_t const rows = column.rows(), values = column.values.size();
    std::vector<Code> rare;  // an object has at most so many pairs, or two of one difference if values are distinct
    truth.true_codes.each([&](Code code) {
        if (truth.counts[code] <= (column.distinct ? 2 : rows)) rare.push_back(code);
    });
    if (rare.size() * values > rows * rows / 4) return false;
    Code const width = fact_codes_.box(unit_of(types()[type].slots[0])).width();
    std::vector<std::uint32_t> rows_of(width, 0), pairs(width, 0);  // by value
    for (std::size_t i = 0; i < values; ++i) rows_of[column.values[i]] = column.rows_of[i];
    for (Row x = 0; x < rows; ++x) known.by_row[x].clear();
    for (Code const code : rare) {  // ascending
        Code const difference = code - centre(type);
        for (Code const a : column.values) {
            if (difference == 0) pairs[a] = rows_of[a] - 1;
            if (difference == 0 || a + difference >= width || rows_of[a + difference] == 0) continue;
            pairs[a] += rows_of[a + difference];
            pairs[a + difference] += rows_of[a];
        }
        for (Row x = 0; x < rows; ++x)
            if (pairs[column.codes[x]] == truth.counts[code]) known.by_row[x].push_back(code);
        for (Code const a : column.values) pairs[a] = 0;
    }
    known.is_known.assign(rows, true);
    return true;
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
    bytes += (place_of_.capacity() + tally_.capacity() + tallied_.capacity()) * sizeof(Code);
    for (CodedColumn const& each : columns_)
        bytes += sizeof each + (each.codes.capacity() + 2 * each.values.capacity()) * sizeof(Code);
    for (auto const& each : only_of_) {
        bytes += sizeof each;
        if (!each) continue;
        bytes += sizeof *each + each->by_row.capacity() * sizeof each->by_row[0];
        for (auto const& codes : each->by_row) bytes += codes.capacity() * sizeof(Code);
    }
    return bytes;
}

}  // namespace treethink
