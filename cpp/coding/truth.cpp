#include "coding/truth.hpp"

#include <algorithm>
#include <utility>

namespace treethink {

namespace {

// The largest table in which differences are counted before they are interned.
constexpr std::uint64_t max_tally_table = 1u << 25;

/// Counts the differences y - x of all pairs, at code `centre` + y - x.
void count_differences(std::vector<Code> const& xs, std::vector<Code> const& ys, Code centre, std::uint32_t* counts) {
    for (Code const x : xs) {
        std::uint32_t* const at_x = counts + (centre - x);
        for (Code const y : ys) ++at_x[y];
    }
}

/// Counts the differences y - x of the same row, or takes them back.
void count_own_differences(std::vector<Code> const& xs, std::vector<Code> const& ys, Code centre, std::uint32_t* counts,
                           int times = 1) {
    for (std::size_t i = 0; i < xs.size(); ++i) counts[centre + ys[i] - xs[i]] += static_cast<std::uint32_t>(times);
}

/// Counts the difference of each pair within `xs` once: larger code minus smaller one.
void count_unordered_differences(std::vector<Code> xs, Code centre, std::uint32_t* counts) {
    std::sort(xs.begin(), xs.end());
    for (std::size_t i = 0; i < xs.size(); ++i) {
        std::uint32_t* const at_x = counts + (centre - xs[i]);
        for (std::size_t j = i + 1; j < xs.size(); ++j) ++at_x[xs[j]];
    }
}

/// The smallest box around all values of two columns, the first of which is not empty.
Box box_around(Column const& xs, Column const& ys, std::uint64_t max_table) {
    Vector low(xs.row(0).begin(), xs.row(0).end()), high = low;
    for (Column const* column : {&xs, &ys})
        for (std::size_t i = 0; i < column->rows(); ++i)
            for (std::size_t d = 0; d < low.size(); ++d) {
                low[d] = std::min(low[d], column->row(i)[d]);
                high[d] = std::max(high[d], column->row(i)[d]);
            }
    return Box::around(low, high, max_table);
}

std::vector<Code> codes_in(Box const& box, Column const& column) {
    std::vector<Code> codes;
    codes.reserve(column.rows());
    for (std::size_t i = 0; i < column.rows(); ++i) codes.push_back(box.code(column.row(i)));
    return codes;
}

/// Brings the table of one fact type up to date.
///
///   if few rows changed:  for each of them: uncount its facts, take its new value, count its facts
///   else:                 count the facts of all rows
class TruthUpdate {
public:
    TruthUpdate(std::size_t type, FactCodes& codes, std::span<CodedColumn const> columns, TruthTable& table,
                std::uint64_t& version)
        : type_(type), fact_(codes.types()[type]), arithmetic_(codes.arithmetic(type)),
          sources_(fact_.unordered() ? 1 : fact_.terms), codes_(codes), columns_(columns), table_(table),
          version_(version) {}

    void run() {
        if (table_.built && (is_up_to_date() || update_incrementally())) return;
        rebuild();
    }

private:
    [[nodiscard]] CodedColumn const& column(std::size_t term) const { return columns_[fact_.slots[term]]; }

    [[nodiscard]] bool is_up_to_date() const {
        for (std::size_t k = 0; k < sources_; ++k)
            if (table_.sources[k].version != column(k).version) return false;
        return true;
    }

    // ---- row by row ----

    /// False, changing nothing, when a rebuild is cheaper.
    bool update_incrementally() {
        std::array<std::vector<Row>, 2> changed;
        for (std::size_t k = 0; k < sources_; ++k)
            if (!find_changed_rows(k, changed[k])) return false;
        for (std::size_t k = 0; k < sources_; ++k) {
            for (Row const row : changed[k]) {
                for_each_fact_of(k, row, [this](Code code) { add(code, -1); });
                take_row(k, row);
                for_each_fact_of(k, row, [this](Code code) { add(code, 1); });
            }
            table_.sources[k].version = column(k).version;
        }
        return true;
    }

    /// False when a rebuild is cheaper: rows came or went, or many have changed.
    bool find_changed_rows(std::size_t term, std::vector<Row>& changed) const {
        CodedColumn const& now = column(term);
        TruthTable::Source const& then = table_.sources[term];
        if (then.version == now.version) return true;
        std::size_t const rows = now.rows(), length = now.column->length();
        if (arithmetic_ ? then.codes.size() != rows : then.values.size() != rows * length) return false;
        for (Row i = 0; i < rows; ++i)
            if (arithmetic_ ? then.codes[i] != now.codes[i] : !same(source_value(term, i), now.column->row(i)))
                changed.push_back(i);
        return changed.size() * 4 <= rows || rows <= 4;
    }

    void take_row(std::size_t term, Row row) {
        CodedColumn const& now = column(term);
        TruthTable::Source& source = table_.sources[term];
        if (arithmetic_) {
            source.codes[row] = now.codes[row];
        } else {
            VectorView const value = now.column->row(row);
            std::copy(value.begin(), value.end(),
                      source.values.begin() + static_cast<std::ptrdiff_t>(row * value.size()));
        }
    }

    /// Calls visit(code) for the facts in which term `term` is of `row`.
    template <class Visit>
    void for_each_fact_of(std::size_t term, Row row, Visit&& visit) {
        if (fact_.arity == 1) return visit(source_code(row, row));
        std::size_t const partners = column(1 - term).rows();
        for (Row partner = 0; partner < partners; ++partner) {
            if (fact_.same_class() && partner == row) continue;
            visit(term == 0 ? source_code(row, partner) : source_code(partner, row));
        }
    }

    [[nodiscard]] VectorView source_value(std::size_t term, Row row) const {
        std::size_t const length = column(term).column->length();
        return {table_.sources[term].values.data() + row * length, length};
    }

    /// Code of the fact whose terms are of these rows, by the values in `sources`. With one term `y` is ignored.
    [[nodiscard]] Code source_code(Row x, Row y) {
        if (!arithmetic_) {
            if (fact_.terms == 1) return codes_.intern_fact(type_, source_value(0, x), {});
            if (fact_.unordered()) return codes_.intern_unordered_fact(type_, source_value(0, x), source_value(0, y));
            return codes_.intern_fact(type_, source_value(0, x), source_value(1, y));
        }
        Code const a = table_.sources[0].codes[x];
        if (fact_.terms == 1) return a;
        Code const b = table_.sources[fact_.unordered() ? 0 : 1].codes[y];
        return (fact_.unordered() && a > b ? a - b : b - a) + codes_.centre(type_);
    }

    void add(Code code, int times) {
        if (code == no_code) return;
        Truth& truth = table_.truth;
        if (code >= truth.counts.size()) {
            truth.counts.resize(code + 1 + code / 2, 0);
            truth.true_codes.fit(truth.counts.size());
        }
        bool const before = truth.counts[code] > 0;
        truth.counts[code] += static_cast<std::uint32_t>(times);
        bool const after = truth.counts[code] > 0;
        if (before == after) return;
        truth.true_codes.set(code, after);
        truth.version = ++version_;
    }

    // ---- from scratch ----

    void rebuild() {
        Truth& truth = table_.truth;
        truth.counts.assign(codes_.size(type_), 0);
        truth.true_codes.clear();
        truth.true_codes.fit(truth.counts.size());
        truth.version = ++version_;
        for (std::size_t k = 0; k < sources_; ++k) {
            table_.sources[k].version = column(k).version;
            if (arithmetic_)
                table_.sources[k].codes = column(k).codes;
            else
                table_.sources[k].values = column(k).column->values();
        }
        if (arithmetic_)
            count_codes();
        else if (!(fact_.linear && fact_.arity == 2 && tally_and_intern()))
            intern_all();
        table_.built = true;
    }

    // Counts first and fills the set afterwards: a new level has thousands of pairs.
    void count_codes() {
        std::uint32_t* const counts = table_.truth.counts.data();
        std::vector<Code> const& xs = table_.sources[0].codes;
        if (fact_.terms == 1)
            for (Code const x : xs) ++counts[x];
        else if (fact_.within_object())
            count_own_differences(xs, table_.sources[1].codes, codes_.centre(type_), counts);
        else
            count_pairs(xs, table_.sources[fact_.unordered() ? 0 : 1].codes, codes_.centre(type_), counts);
        set_true_codes();
    }

    /// Counts the differences of all pairs of different objects.
    void count_pairs(std::vector<Code> const& xs, std::vector<Code> const& ys, Code centre, std::uint32_t* counts) {
        if (fact_.unordered()) return count_unordered_differences(xs, centre, counts);
        count_differences(xs, ys, centre, counts);
        if (fact_.same_class()) count_own_differences(xs, ys, centre, counts, -1);
    }

    void set_true_codes() {
        Truth& truth = table_.truth;
        constexpr std::size_t bits = CodeSet::word_bits;
        for (std::size_t w = 0; w * bits < truth.counts.size(); ++w) {
            std::uint64_t word = 0;
            std::uint32_t const* const counts = truth.counts.data() + w * bits;
            std::size_t const end = std::min(bits, truth.counts.size() - w * bits);
            for (std::size_t i = 0; i < end; ++i) word |= static_cast<std::uint64_t>(counts[i] > 0) << i;
            truth.true_codes.set_word(w, word);
        }
    }

    void intern_all() {
        std::size_t const rows = column(0).rows();
        for (Row x = 0; x < rows; ++x) {
            if (fact_.unordered())
                for (Row y = x + 1; y < rows; ++y) add(source_code(x, y), 1);
            else
                for_each_fact_of(0, x, [this](Code code) { add(code, 1); });
        }
    }

    // Many objects that are far apart have millions of pairs. A table of differences that is too large to keep
    // for every node can still be used once, to count them, so that each difference is interned only once.
    // False, changing nothing, when even that table would be much larger than the number of pairs.
    bool tally_and_intern() {
        Column const& xs = *column(0).column;
        Column const& ys = *column(1).column;
        if (xs.rows() == 0) return true;
        Box const box = box_around(xs, ys, std::min<std::uint64_t>(max_tally_table, 64 * xs.rows() * ys.rows()));
        if (!box.dense()) return false;
        std::vector<std::uint32_t> tally(box.table_size(), 0);
        count_pairs(codes_in(box, xs), codes_in(box, ys), box.centre(), tally.data());
        for (Code code = 0; code < tally.size(); ++code)
            if (tally[code] > 0) add(codes_.intern(type_, box.difference(code)), static_cast<int>(tally[code]));
        return true;
    }

    std::size_t type_;
    FactType const& fact_;
    bool arithmetic_;
    std::size_t sources_;  // number of sources that are used
    FactCodes& codes_;
    std::span<CodedColumn const> columns_;
    TruthTable& table_;
    std::uint64_t& version_;
};

}  // namespace

void TruthTables::update(std::size_t type, FactCodes& codes, std::span<CodedColumn const> columns) {
    TruthTable& table = this->table(type);
    TruthUpdate(type, codes, columns, table, version_).run();
    table.checked_in_step = step_;
}

TruthTable& TruthTables::table(std::size_t type) {
    if (!tables_[type]) tables_[type] = std::make_unique<TruthTable>();
    return *tables_[type];
}

void TruthTables::clear(std::size_t type) {
    if (!tables_[type]) return;
    *tables_[type] = TruthTable{};
    tables_[type]->truth.version = ++version_;
}

void TruthTables::mark_true(std::size_t type, std::vector<bool>& used) const {
    if (!tables_[type]) return;
    Truth const& truth = tables_[type]->truth;
    for (Code code = 0; code < truth.counts.size() && code < used.size(); ++code)
        if (truth.counts[code] > 0) used[code] = true;
}

void TruthTables::recode(Recoding const& recoding, Code size) {
    if (!tables_[recoding.type]) return;
    Truth& truth = tables_[recoding.type]->truth;
    Truth recoded{std::vector<std::uint32_t>(size, 0), {}, ++version_};
    recoded.true_codes.fit(size);
    for (Code code = 0; code < truth.counts.size() && code < recoding.new_code.size(); ++code) {
        if (truth.counts[code] == 0) continue;
        recoded.counts[recoding.new_code[code]] = truth.counts[code];
        recoded.true_codes.set(recoding.new_code[code], true);
    }
    truth = std::move(recoded);
}

std::size_t TruthTables::bytes() const {
    std::size_t bytes = sizeof *this;
    for (auto const& table : tables_) {
        bytes += sizeof table;
        if (!table) continue;
        Truth const& truth = table->truth;
        bytes += sizeof *table + truth.counts.capacity() * sizeof truth.counts[0] + truth.true_codes.bytes();
    }
    return bytes;
}

}  // namespace treethink
