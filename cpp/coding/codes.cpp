#include "coding/codes.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace treethink {

namespace {

constexpr Code collect_from = 4096;
// The largest table in which pairs are counted before they are interned.
constexpr std::uint64_t tally_table = 1u << 25;

void set_bit(std::vector<std::uint64_t>& bits, Code code, bool on) {
    std::uint64_t const mask = std::uint64_t{1} << (code % 64);
    if (on)
        bits[code / 64] |= mask;
    else
        bits[code / 64] &= ~mask;
}

}  // namespace

Codes::Codes(std::shared_ptr<Schema const> schema)
    : schema_(std::move(schema)), types_(fact_types(*schema_)), boxes_(schema_->attributes().size()),
      crowd_(types_.size(), collect_from), views_(schema_->slots().size()), tables_(types_.size()) {
    for (FactType const& type : types_) {
        interners_.emplace_back(type.value_length);
        for (std::size_t k = 0; k < type.arity; ++k) {
            views_[type.slots[k]].used = true;
            views_[type.slots[k]].paired |= type.arity == 2;
        }
    }
    for (std::size_t s = 0; s < views_.size(); ++s)
        views_[s].column = std::make_shared<Column>(schema_->length(SlotId(s)), std::vector<Int>{});
}

bool Codes::outgrows(SlotId slot, Column const& column) const {
    Box const& box = boxes_[schema_->slots()[slot].attribute];
    if (!box.dense()) return true;
    for (std::size_t i = 0; i < column.rows(); ++i)
        if (!box.contains(column.row(i))) return true;
    return false;
}

void Codes::check_range(State const& state, AttributeId attribute) const {
    Attribute const& checked = schema_->attributes()[attribute];
    for (std::size_t d = 0; d < checked.length; ++d) {
        Int low = 0, high = 0, span = 0;
        bool first = true;
        for (std::size_t s = 0; s < views_.size(); ++s) {
            if (!views_[s].paired || schema_->slots()[s].attribute != attribute) continue;
            std::vector<Int> const& values = state.column(SlotId(s))->values();
            for (std::size_t i = d; i < values.size(); i += checked.length, first = false) {
                low = first ? values[i] : std::min(low, values[i]);
                high = first ? values[i] : std::max(high, values[i]);
            }
        }
        if (!subtract(high, low, span))
            throw StateError("attribute '" + checked.name + "' has values so far apart (" + std::to_string(low) +
                             " and " + std::to_string(high) +
                             ") that their difference does not fit 64 bits; give it facts without 'difference'");
    }
}

std::vector<Recoding> Codes::turn_to(State const& state) {
    changed_.clear();
    std::vector<AttributeId> outgrown;
    for (std::size_t s = 0; s < views_.size(); ++s) {
        View& view = views_[s];
        auto const& column = state.column(SlotId(s));
        if (!view.used || view.column == column) continue;
        if (*view.column == *column) {
            view.column = column;  // so that the next comparison is one of pointers
            continue;
        }
        changed_.push_back(SlotId(s));
        AttributeId const attribute = schema_->slots()[s].attribute;
        if (std::find(outgrown.begin(), outgrown.end(), attribute) == outgrown.end() && outgrows(SlotId(s), *column))
            outgrown.push_back(attribute);
    }
    if (changed_.empty()) return {};
    // In a box no difference can overflow, so only what leaves it needs the check.
    for (AttributeId const attribute : outgrown) check_range(state, attribute);
    for (std::size_t s = 0; s < views_.size(); ++s)
        if (views_[s].used) views_[s].column = state.column(SlotId(s));
    ++turn_;
    std::vector<Recoding> recodings;
    for (AttributeId const attribute : outgrown) grow(attribute, recodings);
    for (SlotId const slot : changed_) {
        views_[slot].stamp = ++stamp_;
        if (boxes_[schema_->slots()[slot].attribute].dense()) encode(slot);
    }
    return recodings;
}

void Codes::encode(SlotId slot) {
    View& view = views_[slot];
    Box const& box = boxes_[schema_->slots()[slot].attribute];
    std::size_t const rows = view.column->rows();
    view.codes.resize(rows);
    view.distinct = true;
    if (mark_.size() < box.width()) mark_.resize(box.width(), 0);
    ++epoch_;
    for (std::size_t i = 0; i < rows; ++i) {
        Code const code = box.code(view.column->row(i));
        view.codes[i] = code;
        if (mark_[code] == epoch_) view.distinct = false;
        mark_[code] = epoch_;
    }
}

void Codes::grow(AttributeId attribute, std::vector<Recoding>& recodings) {
    Vector low, high;
    std::size_t values = 0;
    auto include = [&](VectorView value) {
        if (low.empty()) low.assign(value.begin(), value.end()), high = low;
        for (std::size_t d = 0; d < value.size(); ++d) {
            low[d] = std::min(low[d], value[d]);
            high[d] = std::max(high[d], value[d]);
        }
    };
    for (std::size_t s = 0; s < views_.size(); ++s) {
        if (!views_[s].used || schema_->slots()[s].attribute != attribute) continue;
        Column const& column = *views_[s].column;
        values += column.rows();
        for (std::size_t i = 0; i < column.rows(); ++i) include(column.row(i));
    }
    if (low.empty()) return;
    rebox(attribute, boxes_[attribute].grown(low, high, values), recodings);
}

void Codes::rebox(AttributeId attribute, Box box, std::vector<Recoding>& recodings) {
    Box const old = std::exchange(boxes_[attribute], std::move(box));
    bool const had_codes = old.dense();
    for (std::size_t t = 0; t < types_.size(); ++t) {
        FactType const& type = types_[t];
        if (type.attribute != attribute || !type.kind->linear()) continue;
        Interner const& met = interners_[t];
        if (!had_codes && !boxes_[attribute].dense()) continue;
        Recoding recoding{t, {}};
        Code const size = had_codes ? (type.arity == 1 ? old.width() : old.table_size()) : met.size();
        for (Code code = 0; code < size; ++code) {
            Vector value;
            if (!had_codes)
                value.assign(met.value(code).begin(), met.value(code).end());
            else
                value = type.arity == 1 ? old.value(code) : old.difference(code);
            if (boxes_[attribute].dense())
                recoding.new_code.push_back(type.arity == 1 ? boxes_[attribute].find(value)
                                                            : boxes_[attribute].find_difference(value));
            else
                recoding.new_code.push_back(interners_[t].intern(value));
        }
        tables_[t] = Table{};
        tables_[t].truth.version = ++version_;
        recodings.push_back(std::move(recoding));
    }
    if (!boxes_[attribute].dense()) return;
    for (std::size_t s = 0; s < views_.size(); ++s)
        if (views_[s].used && schema_->slots()[s].attribute == attribute) encode(SlotId(s));
}

std::vector<Recoding> Codes::admit(std::size_t type, VectorView value) {
    std::vector<Recoding> recodings;
    if (find(type, value) != no_code) return recodings;
    FactType const& fact = types_[type];
    Box const& box = boxes_[fact.attribute];
    // The box makes room even where codes are not arithmetic (yet, or any more): all that was ever met is
    // in it, so nothing is lost if they become so.
    if (fact.kind->linear())
        rebox(fact.attribute, fact.arity == 1 ? box.grown(value, value, 0) : box.widened(value), recodings);
    if (!arithmetic(type)) interners_[type].intern(value);
    return recodings;
}

Recoding Codes::collect(std::size_t type, std::vector<bool> used) {
    Truth& truth = tables_[type].truth;  // what is true now stays, or it would all have to be met again
    for (Code code = 0; code < truth.counts.size() && code < used.size(); ++code)
        if (truth.counts[code] > 0) used[code] = true;
    Interner const old = std::exchange(interners_[type], Interner(types_[type].value_length));
    Recoding recoding{type, std::vector<Code>(old.size(), no_code)};
    for (Code code = 0; code < old.size(); ++code)
        if (used[code]) recoding.new_code[code] = interners_[type].intern(old.value(code));
    crowd_[type] = collect_from + 2 * interners_[type].size();
    Truth kept;
    kept.counts.assign(interners_[type].size(), 0);
    kept.bits.assign(interners_[type].size() / 64 + 1, 0);
    kept.version = ++version_;
    for (Code code = 0; code < truth.counts.size() && code < old.size(); ++code) {
        if (truth.counts[code] == 0) continue;
        kept.counts[recoding.new_code[code]] = truth.counts[code];
        set_bit(kept.bits, recoding.new_code[code], true);
    }
    truth = std::move(kept);
    return recoding;
}

Vector Codes::value(std::size_t type, Code code) const {
    if (arithmetic(type)) return types_[type].arity == 1 ? box(type).value(code) : box(type).difference(code);
    VectorView const value = interners_[type].value(code);
    return {value.begin(), value.end()};
}

Code Codes::find(std::size_t type, VectorView value) const {
    if (!arithmetic(type)) return interners_[type].find(value);
    return types_[type].arity == 1 ? box(type).find(value) : box(type).find_difference(value);
}

Code Codes::intern_pair(std::size_t type, VectorView x, VectorView y, bool unordered) {
    FactKind const& kind = *types_[type].kind;
    Buffer value(types_[type].value_length);
    if (!kind.value(x, y, value.data())) return no_code;
    if (unordered) {
        Buffer swapped = value;
        kind.swap(swapped.data(), types_[type].value_length);
        if (less(value.view(), swapped.view())) return interners_[type].intern(swapped.view());
    }
    return interners_[type].intern(value.view());
}

// ---- truth ----

void Codes::change(Truth& truth, Code code, int by) {
    if (code == no_code) return;
    if (code >= truth.counts.size()) {
        truth.counts.resize(code + 1 + code / 2, 0);
        truth.bits.resize(truth.counts.size() / 64 + 1, 0);
    }
    bool const before = truth.counts[code] > 0;
    truth.counts[code] += static_cast<std::uint32_t>(by);
    bool const after = truth.counts[code] > 0;
    if (before == after) return;
    set_bit(truth.bits, code, after);
    truth.version = ++version_;
}

Code Codes::side_code(std::size_t type, Row x, Row y) {
    FactType const& fact = types_[type];
    Side const& xs = tables_[type].sides[0];
    Side const& ys = tables_[type].sides[fact.same_class() ? 0 : 1];
    if (arithmetic(type)) {
        if (fact.arity == 1) return xs.codes[x];
        Code const a = xs.codes[x], b = ys.codes[y];
        return (fact.same_class() && a > b ? a - b : b - a) + centre(type);
    }
    std::size_t const length = schema_->length(fact.slots[0]);
    VectorView const first{xs.values.data() + x * length, length};
    if (fact.arity == 1) return intern_pair(type, first, {}, false);
    return intern_pair(type, first, {ys.values.data() + y * length, length}, fact.same_class());
}

template <class Visit>
void Codes::each_code(std::size_t type, std::size_t which, Row row, Visit&& visit) {
    FactType const& fact = types_[type];
    if (fact.arity == 1) return visit(side_code(type, row, 0));
    SlotId const other = fact.slots[1 - which];
    std::size_t const partners = views_[other].column->rows();
    for (Row partner = 0; partner < partners; ++partner) {
        if (fact.same_class() && partner == row) continue;
        visit(which == 0 ? side_code(type, row, partner) : side_code(type, partner, row));
    }
}

void Codes::rebuild(std::size_t type) {
    FactType const& fact = types_[type];
    Table& table = tables_[type];
    table.truth.counts.assign(size(type), 0);
    table.truth.bits.assign(size(type) / 64 + 1, 0);
    table.truth.version = ++version_;
    std::size_t const sides = fact.same_class() ? 1 : fact.arity;
    for (std::size_t k = 0; k < sides; ++k) {
        View const& view = views_[fact.slots[k]];
        table.sides[k].stamp = view.stamp;
        if (arithmetic(type))
            table.sides[k].codes = view.codes;
        else
            table.sides[k].values = view.column->values();
    }
    if (arithmetic(type))
        count_all(type);
    else
        intern_all(type);
    table.built = true;
}

// Counts first and sets bits afterwards: a new level has thousands of pairs.
void Codes::count_all(std::size_t type) {
    FactType const& fact = types_[type];
    Table& table = tables_[type];
    std::uint32_t* const counts = table.truth.counts.data();
    std::vector<Code> const& xs = table.sides[0].codes;
    if (fact.arity == 1) {
        for (Code const x : xs) ++counts[x];
    } else if (fact.same_class()) {
        std::vector<Code> sorted = xs;  // then every difference is the larger one of its pair
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            std::uint32_t* const from = counts + (centre(type) - sorted[i]);
            for (std::size_t j = i + 1; j < sorted.size(); ++j) ++from[sorted[j]];
        }
    } else {
        for (Code const x : xs) {
            std::uint32_t* const from = counts + (centre(type) - x);
            for (Code const y : table.sides[1].codes) ++from[y];
        }
    }
    for (std::size_t w = 0; w < table.truth.bits.size(); ++w) {
        std::uint64_t word = 0;
        std::size_t const end = std::min<std::size_t>(64, table.truth.counts.size() - w * 64);
        for (std::size_t i = 0; i < end; ++i) word |= static_cast<std::uint64_t>(counts[w * 64 + i] > 0) << i;
        table.truth.bits[w] = word;
    }
}

void Codes::intern_all(std::size_t type) {
    FactType const& fact = types_[type];
    Truth& truth = tables_[type].truth;
    std::size_t const rows = views_[fact.slots[0]].column->rows();
    if (fact.linear && fact.arity == 2 && tally_differences(type)) return;
    for (Row x = 0; x < rows; ++x) {
        if (fact.same_class())
            for (Row y = x + 1; y < rows; ++y) change(truth, side_code(type, x, y), 1);
        else
            each_code(type, 0, x, [&](Code code) { change(truth, code, 1); });
    }
}

// Many objects that are far apart have millions of pairs. A table that is too large to keep for every
// node can still count them, if it is not much larger than their number, so that each difference is
// interned only once. False: not even that.
bool Codes::tally_differences(std::size_t type) {
    FactType const& fact = types_[type];
    Column const& xs = *views_[fact.slots[0]].column;
    Column const& ys = *views_[fact.slots[1]].column;
    if (xs.rows() == 0) return true;
    Vector low(xs.row(0).begin(), xs.row(0).end()), high = low;
    for (Column const* column : {&xs, &ys})
        for (std::size_t i = 0; i < column->rows(); ++i)
            for (std::size_t d = 0; d < low.size(); ++d) {
                low[d] = std::min(low[d], column->row(i)[d]);
                high[d] = std::max(high[d], column->row(i)[d]);
            }
    Box const box = Box::around(low, high, std::min<std::uint64_t>(tally_table, 64 * xs.rows() * ys.rows()));
    if (!box.dense()) return false;
    std::vector<Code> from, to;
    for (std::size_t i = 0; i < xs.rows(); ++i) from.push_back(box.code(xs.row(i)));
    for (std::size_t i = 0; i < ys.rows(); ++i) to.push_back(box.code(ys.row(i)));
    if (fact.same_class()) std::sort(from.begin(), from.end());  // then the later one of a pair is the larger one
    std::vector<std::uint32_t> tally(box.table_size(), 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::uint32_t* const start = tally.data() + (box.centre() - from[i]);
        if (fact.same_class())
            for (std::size_t j = i + 1; j < from.size(); ++j) ++start[from[j]];
        else
            for (Code const y : to) ++start[y];
    }
    for (Code code = 0; code < tally.size(); ++code)
        if (tally[code] > 0)
            change(tables_[type].truth, interners_[type].intern(box.difference(code)), static_cast<int>(tally[code]));
    return true;
}

bool Codes::mend(std::size_t type) {
    FactType const& fact = types_[type];
    Table& table = tables_[type];
    bool const coded = arithmetic(type);
    std::array<std::vector<Row>, 2> changed;
    std::size_t const sides = fact.same_class() ? 1 : fact.arity;
    for (std::size_t k = 0; k < sides; ++k) {
        View const& view = views_[fact.slots[k]];
        Side const& side = table.sides[k];
        if (side.stamp == view.stamp) continue;
        std::size_t const rows = view.column->rows(), length = view.column->length();
        if (coded ? side.codes.size() != rows : side.values.size() != rows * length) return false;
        for (Row i = 0; i < rows; ++i)
            if (coded ? side.codes[i] != view.codes[i]
                      : !same({side.values.data() + i * length, length}, view.column->row(i)))
                changed[k].push_back(i);
        if (changed[k].size() * 4 > rows && rows > 4) return false;  // as cheap to start over
    }
    for (std::size_t k = 0; k < sides; ++k) {
        View const& view = views_[fact.slots[k]];
        Side& side = table.sides[k];
        for (Row const row : changed[k]) {
            each_code(type, k, row, [&](Code code) { change(table.truth, code, -1); });
            if (coded)
                side.codes[row] = view.codes[row];
            else
                std::copy_n(view.column->row(row).begin(), view.column->length(),
                            side.values.begin() + static_cast<std::ptrdiff_t>(row * view.column->length()));
            each_code(type, k, row, [&](Code code) { change(table.truth, code, 1); });
        }
        side.stamp = view.stamp;
    }
    return true;
}

void Codes::bring_up_to_date(std::size_t type) {
    FactType const& fact = types_[type];
    Table& table = tables_[type];
    bool fresh = table.built;
    for (std::size_t k = 0; k < (fact.same_class() ? 1 : fact.arity) && fresh; ++k)
        fresh = table.sides[k].stamp == views_[fact.slots[k]].stamp;
    if (!fresh && !(table.built && mend(type))) rebuild(type);
    table.turn = turn_;
}

std::size_t Codes::bytes() const {
    std::size_t bytes = sizeof *this + mark_.capacity() * sizeof mark_[0];
    for (Interner const& interner : interners_) bytes += interner.bytes();
    for (Table const& table : tables_)
        bytes += sizeof table + table.truth.counts.capacity() * 4 + table.truth.bits.capacity() * 8;
    for (View const& view : views_) bytes += sizeof view + view.codes.capacity() * sizeof(Code);
    return bytes;
}

}  // namespace treethink
