// predictor.hpp - how QORA learns the effects of one action on one attribute of one class.
//
// Conditions are tried on the stream, each with a table of what happened in which case. One that
// surely foretells effects better than no condition is promoted to a hypothesis, and joined with the
// best one into a longer condition to try. The hypothesis in front predicts. Nothing is ever deleted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "qora/conditions.hpp"
#include "serialize.hpp"

namespace treethink::qora {

/// What there is, roughly, kept up to date by those who make it.
struct Size {
    std::uint64_t bytes = 0, hypotheses = 0, candidates = 0, conditions = 0;
    std::uint64_t most_bytes = 0;
    bool full = false;  // something was left out because of that
};

/// Where the rate of success plausibly lies.
struct Interval {
    double low = 0, high = 1;
    [[nodiscard]] bool beats(Interval const& other) const { return low > other.high; }
};

/// Wilson's score interval; all of [0, 1] without trials.
[[nodiscard]] Interval wilson_interval(std::uint64_t successes, std::uint64_t trials, double z);

/// How often each effect followed in each case, cases ascending.
class Table {
public:
    explicit Table(bool wide = false) : wide_(wide ? std::make_unique<std::vector<WideKey>>() : nullptr) {}

    [[nodiscard]] bool wide() const { return wide_ != nullptr; }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] std::size_t cases() const { return rows_.size() / stride_; }
    [[nodiscard]] std::uint64_t key(std::size_t at) const { return rows_[at * stride_]; }
    [[nodiscard]] WideKey const& wide_key(std::size_t at) const { return (*wide_)[at]; }
    /// By effect; those beyond the end were never counted.
    [[nodiscard]] std::span<std::uint64_t const> counts(std::size_t at) const {
        return std::span(rows_).subspan(at * stride_ + 1, stride_ - 1);
    }
    [[nodiscard]] std::size_t bytes() const;

    /// The place of a case, or of the one before which it would stand.
    [[nodiscard]] std::size_t lower_bound(std::uint64_t key) const;
    [[nodiscard]] std::size_t lower_bound(WideKey const& key) const;
    [[nodiscard]] bool has(std::size_t at, std::uint64_t key) const { return at < cases() && this->key(at) == key; }
    [[nodiscard]] bool has(std::size_t at, WideKey const& key) const { return at < cases() && (*wide_)[at] == key; }

    /// Counts `times` in the case with that key, which may be new.
    template <class Key>
    void add(Key const& key, std::size_t effect, std::uint64_t times = 1) {
        if (effect + 1 >= stride_) widen(effect + 2);
        std::size_t const at = lower_bound(key);
        if (!has(at, key)) insert(at, key);
        rows_[at * stride_ + 1 + effect] += times;
        total_ += times;
    }
    void reset();

    /// Expected probability of being right, when answering as often as each effect followed in the case;
    /// times the total, of which the integer part. The order of operations is part of the meaning.
    [[nodiscard]] std::uint64_t successes() const;

private:
    void widen(std::size_t stride);
    void insert(std::size_t at, std::uint64_t key);
    void insert(std::size_t at, WideKey const& key);

    std::vector<std::uint64_t> rows_;  // key (unless wide), then counts by effect
    std::unique_ptr<std::vector<WideKey>> wide_;
    std::size_t stride_ = 1;
    std::size_t wide_bytes_ = 0;
    std::uint64_t total_ = 0;
};

/// What an observation is seen with.
struct Observing {
    TargetFacts& facts;
    Predicates& predicates;
    Evaluator& evaluator;
    double z;
    Size& size;
};

class Predictor {
public:
    /// A condition with what it has seen.
    struct Tried {
        std::size_t first;  // of ids_
        std::uint32_t length;
        Interval interval;  // of hypotheses only
        Table table;
    };

    /// Counts what there is from the start into `size`.
    explicit Predictor(Size& size);

    void observe(Observing& now, VectorView effect);

    /// How often each effect followed in the case of a target. Nothing: that case is new.
    [[nodiscard]] std::vector<std::uint64_t> answer(FactsAsked const& facts, Evaluator& evaluator) const;

    /// In the order in which they were first seen here.
    [[nodiscard]] std::vector<Vector> const& effects() const { return effects_; }
    [[nodiscard]] Table const& baseline() const { return baseline_; }
    /// Places of conditions; the best hypothesis is in front, the rest in no strict order.
    [[nodiscard]] std::vector<std::uint32_t> const& hypotheses() const { return hypotheses_; }
    [[nodiscard]] std::vector<std::uint32_t> const& working() const { return working_; }
    [[nodiscard]] Tried const& tried(std::uint32_t at) const { return tried_[at]; }
    [[nodiscard]] Condition condition(std::uint32_t at) const {
        return std::span(ids_).subspan(tried_[at].first, tried_[at].length);
    }

    void save(Writer& out, Predicates const& predicates) const;
    struct Loading {
        Schema const& schema;
        ClassId target_class;
        std::size_t effect_length;
        Predicates const& predicates;
        double z;
        Size& size;
    };
    /// Only for a predictor that has observed nothing yet. Throws ModelFileError.
    void load(Reader& in, Loading const& loading);

private:
    [[nodiscard]] std::size_t index_of(VectorView effect, Size& size);
    void count(std::uint32_t at, Observing& now, std::size_t effect);
    void reset(Table& table, Size& size);
    void reset_all(Size& size);
    void pass_bubble();
    void replace_best(Observing& now);
    [[nodiscard]] bool is_certain(Observing& now, std::size_t effect) const;
    void make_candidates(Observing& now);
    void try_candidates(Observing& now, std::size_t effect);
    void promote(std::uint32_t at, Observing& now);
    void make_union(std::uint32_t a, std::uint32_t b, Observing& now);
    /// Adds a condition, unless it has been there before or there is no room.
    void add_if_new(Condition condition, Predicates const& predicates, Size& size);
    [[nodiscard]] bool has(Condition condition) const;
    void add(Condition condition, Predicates const& predicates, Size& size);
    template <class Use>
    auto with_key(std::uint32_t at, auto const& facts, Evaluator& evaluator, Use&& use) const;

    void load_conditions(Reader& in, Loading const& loading);
    void load_table(Reader& in, Loading const& loading, std::uint32_t at);
    void load_lists(Reader& in, Loading const& loading);

    std::vector<Vector> effects_;
    Table baseline_;
    std::vector<Tried> tried_;      // every condition ever, in order of creation
    std::vector<PredicateId> ids_;  // their predicates
    HashIndex index_;               // finds them
    std::vector<std::uint32_t> hypotheses_, working_;
    std::vector<PredicateId> joined_;  // room for make_union
};

}  // namespace treethink::qora
