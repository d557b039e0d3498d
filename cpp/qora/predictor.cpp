#include "qora/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace treethink::qora {

namespace {

constexpr std::size_t block = 16;  // what a piece of memory costs by itself

std::uint32_t hash_of(Condition condition) {
    std::uint64_t hash = condition.size();
    for (PredicateId const p : condition) hash = (hash ^ p.index) * 0x9E3779B97F4A7C15U, hash ^= hash >> 29;
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::size_t bytes_of_condition(std::size_t predicates) {
    return sizeof(Predictor::Tried) + predicates * sizeof(PredicateId) + sizeof(std::uint32_t) + 2 * block;
}

}  // namespace

Interval wilson_interval(std::uint64_t successes, std::uint64_t trials, double z) {
    if (trials == 0) return {};
    double const s = static_cast<double>(successes), n = static_cast<double>(trials);
    double const centre = (s + z * z / 2) / (n + z * z);
    double const radius = z / (n + z * z) * std::sqrt(s * (n - s) / n + z * z / 4);
    return {centre - radius, centre + radius};
}

// ---- tables ----

std::size_t Table::bytes() const {
    return (rows_.empty() ? 0 : block + rows_.size() * sizeof(std::uint64_t)) + wide_bytes_;
}

std::size_t Table::lower_bound(std::uint64_t key) const {
    std::size_t at = 0;
    for (std::size_t left = cases(); left > 0;) {
        std::size_t const half = left / 2;
        if (this->key(at + half) < key) {
            at += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return at;
}

std::size_t Table::lower_bound(WideKey const& key) const {
    return static_cast<std::size_t>(std::lower_bound(wide_->begin(), wide_->end(), key) - wide_->begin());
}

void Table::insert(std::size_t at, std::uint64_t key) {
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at * stride_), stride_, 0);
    rows_[at * stride_] = key;
}

void Table::insert(std::size_t at, WideKey const& key) {
    insert(at, std::uint64_t{0});
    wide_->insert(wide_->begin() + static_cast<std::ptrdiff_t>(at), key);
    wide_bytes_ += sizeof key + block + key.size() * sizeof key[0];
}

void Table::widen(std::size_t stride) {
    std::vector<std::uint64_t> wider(cases() * stride, 0);
    for (std::size_t at = 0; at < cases(); ++at)
        std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(at * stride_), stride_,
                    wider.begin() + static_cast<std::ptrdiff_t>(at * stride));
    rows_ = std::move(wider);
    stride_ = stride;
}

void Table::reset() {
    rows_ = {};
    if (wide()) *wide_ = {};
    stride_ = 1;
    wide_bytes_ = 0;
    total_ = 0;
}

std::uint64_t Table::successes() const {
    double const n = static_cast<double>(total_);
    double score = 0;
    for (std::size_t at = 0; at < cases(); ++at) {
        double squares = 0;
        std::uint64_t in_case = 0;
        for (std::uint64_t const count : counts(at)) {
            double const frequency = static_cast<double>(count) / n;
            squares += frequency * frequency;
            in_case += count;
        }
        score += squares / (static_cast<double>(in_case) / n);
    }
    return static_cast<std::uint64_t>(score * n);
}

// ---- the predictor ----

Predictor::Predictor(Size& size) { size.bytes += sizeof *this; }

void Predictor::observe(Observing& now, VectorView effect) {
    std::size_t const y = index_of(effect, now.size);
    baseline_.add(std::uint64_t{0}, y);
    for (std::uint32_t const at : hypotheses_) {
        count(at, now, y);
        Tried& each = tried_[at];
        each.interval = wilson_interval(each.table.successes(), each.table.total(), now.z);
    }
    pass_bubble();
    bool const beaten =
        hypotheses_.size() > 1 && tried_[hypotheses_[1]].interval.beats(tried_[hypotheses_[0]].interval);
    if (beaten) replace_best(now);
    if (!hypotheses_.empty() && is_certain(now, y)) return;
    make_candidates(now);
    try_candidates(now, y);
}

std::size_t Predictor::index_of(VectorView effect, Size& size) {
    for (std::size_t y = 0; y < effects_.size(); ++y)
        if (same(effects_[y], effect)) return y;
    effects_.emplace_back(effect.begin(), effect.end());
    size.bytes += sizeof(Vector) + block + effect.size() * sizeof(Int);
    return effects_.size() - 1;
}

template <class Use>
auto Predictor::with_key(std::uint32_t at, auto const& facts, Evaluator& evaluator, Use&& use) const {
    if (tried_[at].table.wide()) return use(evaluator.wide(condition(at), facts));
    return use(evaluator.narrow(condition(at), facts));
}

void Predictor::count(std::uint32_t at, Observing& now, std::size_t effect) {
    Table& table = tried_[at].table;
    with_key(at, now.facts, now.evaluator, [&](auto const& key) {
        now.size.bytes -= table.bytes();
        table.add(key, effect);
        now.size.bytes += table.bytes();
    });
}

// No higher than one place for each: only neighbours are compared, from the end.
void Predictor::pass_bubble() {
    for (std::size_t i = hypotheses_.size(); i-- > 2;)
        if (tried_[hypotheses_[i]].interval.beats(tried_[hypotheses_[i - 1]].interval))
            std::swap(hypotheses_[i], hypotheses_[i - 1]);
}

void Predictor::replace_best(Observing& now) {
    std::swap(hypotheses_[0], hypotheses_[1]);
    reset_all(now.size);
    for (std::size_t i = 2; i < hypotheses_.size(); ++i) make_union(hypotheses_[0], hypotheses_[i], now);
}

void Predictor::reset(Table& table, Size& size) {
    size.bytes -= table.bytes();
    table.reset();
}

void Predictor::reset_all(Size& size) {
    baseline_.reset();
    for (std::uint32_t const at : working_) reset(tried_[at].table, size);
}

bool Predictor::is_certain(Observing& now, std::size_t effect) const {
    Table const& table = tried_[hypotheses_[0]].table;
    return with_key(hypotheses_[0], now.facts, now.evaluator, [&](auto const& key) {
        auto const counts = table.counts(table.lower_bound(key));
        for (std::size_t y = 0; y < counts.size(); ++y)
            if (y != effect && counts[y] > 0) return false;
        return true;
    });
}

void Predictor::make_candidates(Observing& now) {
    now.size.bytes += now.facts.each_candidate(
        now.predicates, [&](PredicateId p) { add_if_new(std::span(&p, 1), now.predicates, now.size); });
}

void Predictor::try_candidates(Observing& now, std::size_t effect) {
    Interval to_beat = wilson_interval(baseline_.successes(), baseline_.total(), now.z);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < working_.size(); ++i) {  // it grows on the way
        std::uint32_t const at = working_[i];
        count(at, now, effect);
        Table const& table = tried_[at].table;
        std::uint64_t const n = table.total();
        // Most have seen too little to win even if they were always right.
        bool const wins =
            wilson_interval(n, n, now.z).beats(to_beat) && wilson_interval(table.successes(), n, now.z).beats(to_beat);
        if (!wins) {
            working_[kept++] = at;
            continue;
        }
        promote(at, now);
        if (hypotheses_.size() == 1) to_beat = {};
    }
    working_.resize(kept);
}

void Predictor::promote(std::uint32_t at, Observing& now) {
    reset(tried_[at].table, now.size);
    tried_[at].interval = {};
    hypotheses_.push_back(at);
    ++now.size.hypotheses;
    --now.size.candidates;
    if (hypotheses_.size() == 1)
        reset_all(now.size);
    else
        make_union(hypotheses_[0], at, now);
}

void Predictor::make_union(std::uint32_t a, std::uint32_t b, Observing& now) {
    Condition const first = condition(a), second = condition(b);
    joined_.clear();
    std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(joined_),
                   [&](PredicateId p, PredicateId q) { return now.predicates.less(p, q); });
    add_if_new(joined_, now.predicates, now.size);
}

void Predictor::add_if_new(Condition condition, Predicates const& predicates, Size& size) {
    if (has(condition)) return;
    if (size.bytes > size.most_bytes)
        size.full = true;
    else
        add(condition, predicates, size);
}

bool Predictor::has(Condition condition) const {
    return index_.find(hash_of(condition), [&](std::uint32_t i) {
        Condition const other = this->condition(i);
        return std::equal(other.begin(), other.end(), condition.begin(), condition.end());
    }) != HashIndex::none;
}

void Predictor::add(Condition condition, Predicates const& predicates, Size& size) {
    auto const at = static_cast<std::uint32_t>(tried_.size());
    index_.add(hash_of(condition), at);
    tried_.push_back({ids_.size(),
                      static_cast<std::uint32_t>(condition.size()),
                      {},
                      Table(answer_bits(condition, predicates) > 64)});
    ids_.insert(ids_.end(), condition.begin(), condition.end());
    working_.push_back(at);
    ++size.candidates;
    ++size.conditions;
    size.bytes += bytes_of_condition(condition.size());
}

std::vector<std::uint64_t> Predictor::answer(FactsAsked const& facts, Evaluator& evaluator) const {
    if (hypotheses_.empty()) {
        auto const counts = baseline_.counts(0);
        return {counts.begin(), counts.end()};
    }
    Table const& table = tried_[hypotheses_[0]].table;
    return with_key(hypotheses_[0], facts, evaluator, [&](auto const& key) -> std::vector<std::uint64_t> {
        std::size_t const at = table.lower_bound(key);
        if (!table.has(at, key)) return {};
        auto const counts = table.counts(at);
        return {counts.begin(), counts.end()};
    });
}

}  // namespace treethink::qora
