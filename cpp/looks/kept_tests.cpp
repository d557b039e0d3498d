#include "looks/kept_tests.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/hash.hpp"
#include "learning/candidates.hpp"

namespace treethink {

namespace {

/// What most looks have in common: each target has one binding, and all states have as many objects of each class. Then
/// groundings need not be counted target by target.
class AlikeTargets {
public:
    explicit AlikeTargets(std::span<KeptTarget const> targets) {
        for (KeptTarget const& each : targets) {
            std::size_t const bindings = each.bindings.size();
            if (bindings == 0) continue;
            ++bound_;
            Roster const* const roster = each.before->roster().get();
            bool const is_known = state_ != nullptr && roster == state_->roster().get();
            are_alike_ = are_alike_ && bindings == 1 && (is_known || has_as_many(*roster));
            if (!are_alike_) return;
            state_ = each.before;
        }
    }

    [[nodiscard]] bool are_alike() const { return are_alike_; }
    /// How many groundings of a pattern there are to examine, where the targets bind so many variables.
    [[nodiscard]] std::uint64_t groundings(FactType const& type, Pattern const& pattern, std::size_t variables) const {
        std::uint64_t product = bound_;
        for (std::size_t k = 0; k < type.arity; ++k)
            if (pattern.variables[k] >= variables) product *= rows_.empty() ? 0 : rows_[type.classes[k]];
        return state_ == nullptr ? 0 : product * count_any(*state_, type);
    }

private:
    [[nodiscard]] bool has_as_many(Roster const& roster) {
        bool const is_first = rows_.empty();
        if (is_first) rows_.resize(roster.classes());
        bool same = true;
        for (std::size_t c = 0; c < roster.classes(); ++c) {
            std::size_t const rows = roster.ids(ClassId(c)).size();
            if (is_first) rows_[c] = rows;
            same = same && rows_[c] == rows;
        }
        return same;
    }

    bool are_alike_ = true;
    std::uint64_t bound_ = 0;          // targets with a binding
    State const* state_ = nullptr;     // of one of these
    std::vector<std::uint64_t> rows_;  // by class
};

/// Which targets differ from the one before, by what a pattern may read: in a level, most objects never move.
class Changes {
public:
    Changes(std::span<KeptTarget const> targets, std::size_t columns, std::size_t variables)
        : targets_(targets), by_column_(columns), by_variable_(variables), bindings_(targets.size()) {
        for (std::size_t t = 0; t < targets.size(); ++t)
            if (t == 0 || targets[t].bindings.size() != 1 || targets[t - 1].bindings.size() != 1) bindings_.set(t);
    }

    /// In which the tests of a pattern may hold otherwise: it is about these columns, and reads these variables.
    [[nodiscard]] TargetSet of(FactType const& type, std::span<std::uint32_t const> variables) {
        TargetSet changes = bindings_;
        for (std::size_t k = 0; k < type.terms; ++k) {
            SlotId const slot = type.slots[k];
            changes |= known(by_column_[slot], [&](std::size_t t) {
                return targets_[t].before->column(slot) != targets_[t - 1].before->column(slot);
            });
        }
        for (std::uint32_t const v : variables)
            changes |= known(by_variable_[v], [&](std::size_t t) {
                return targets_[t].bindings[0][v] != targets_[t - 1].bindings[0][v];
            });
        return changes;
    }

private:
    // Only of targets with one binding, as the one before.
    template <class Differs>
    TargetSet const& known(std::optional<TargetSet>& changes, Differs const& differs) {
        if (changes) return *changes;
        changes.emplace(targets_.size());
        for (std::size_t t = 1; t < targets_.size(); ++t)
            if (!bindings_[t] && differs(t)) changes->set(t);
        return *changes;
    }

    std::span<KeptTarget const> targets_;
    std::vector<std::optional<TargetSet>> by_column_, by_variable_;  // nothing: not asked for yet
    TargetSet bindings_;  // they have several bindings or none, or the one before has
};

/// Evaluates the tests of one pattern over the targets of a look.
class PatternLook {
public:
    PatternLook(std::vector<FactType> const& types, std::vector<ClassId> const& classes, Pattern const& pattern,
                std::span<KeptTarget const> targets)
        : type_(types[pattern.type]), classes_(classes), pattern_(pattern), targets_(targets),
          value_(type_.value_length), swapped_(type_.value_length) {
        for (std::size_t k = 0; k < type_.arity; ++k) is_new_[k] = pattern.variables[k] >= classes.size();
        for (std::uint32_t v = 0; v < classes.size(); ++v) {
            bool read = is_excluded_from(0, v) || is_excluded_from(1, v);
            for (std::size_t k = 0; k < type_.arity; ++k) read = read || pattern.variables[k] == v;
            if (read) read_.push_back(v);
        }
    }

    /// How many groundings there are to examine; it stops to count beyond the limit.
    [[nodiscard]] std::uint64_t groundings(std::uint64_t limit) {
        std::uint64_t sum = 0;
        for (KeptTarget const& target : targets_) {
            std::uint64_t product = distinct_bindings(target.bindings).size() * count_any(*target.before, type_);
            for (std::size_t k = 0; k < type_.arity; ++k)
                if (is_new_[k]) product *= target.before->rows(type_.classes[k]);
            sum += product;
            if (sum > limit) break;
        }
        return sum;
    }

    void append_to(std::vector<KeptTest>& tests, Changes& changes) {
        bool const cumulative = type_.kind->cumulative();
        TargetSet const starts = changes.of(type_, read_);
        for (std::size_t t = 0, end = 0; t < targets_.size(); t = end) {
            end = std::min(starts.next(t + 1), targets_.size());
            smallest_.reset();
            each_grounding(targets_[t], [&](VectorView value) {
                if (!cumulative)
                    holds_[find_or_add(value)].set_range(t, end);
                else if (!smallest_ || value[0] < *smallest_)
                    smallest_ = value[0];
            });
            if (smallest_) holds_[find_or_add({&*smallest_, 1})].set_range(t, end);
        }
        if (cumulative) return append_cumulative(tests);
        for (std::size_t v = 0; v < values_.size(); ++v) append(std::move(values_[v]), holds_[v], tests);
    }

private:
    [[nodiscard]] bool is_excluded_from(std::size_t k, std::uint32_t v) const {
        return k < type_.arity && is_new_[k] && classes_[v] == type_.classes[k];
    }

    // One binding for each choice of the objects that the pattern reads.
    std::span<std::uint32_t const> distinct_bindings(Bindings const& bindings) {
        static constexpr std::uint32_t first = 0;
        if (bindings.size() == 1) return {&first, 1};
        chosen_.resize(read_.empty() ? std::min<std::size_t>(bindings.size(), 1) : bindings.size());
        std::iota(chosen_.begin(), chosen_.end(), 0u);
        if (chosen_.size() <= 1) return chosen_;
        auto const compare = [&](std::uint32_t a, std::uint32_t b) -> std::strong_ordering {
            for (std::uint32_t const v : read_)
                if (auto const order = bindings[a][v] <=> bindings[b][v]; order != 0) return order;
            return std::strong_ordering::equal;
        };
        std::sort(chosen_.begin(), chosen_.end(), [&](auto a, auto b) { return compare(a, b) < 0; });
        auto const same = [&](auto a, auto b) { return compare(a, b) == 0; };
        chosen_.erase(std::unique(chosen_.begin(), chosen_.end(), same), chosen_.end());
        return chosen_;
    }

    // Calls visit(value) for each group of objects that the pattern may be about.
    template <class Visit>
    void each_grounding(KeptTarget const& target, Visit const& visit) {
        State const& state = *target.before;
        for (std::uint32_t const i : distinct_bindings(target.bindings)) {
            std::span<Row const> const binding = target.bindings[i];
            each_row(state, binding, 0, [&](Row x) {
                if (type_.arity == 1) return each_value(state, x, x, visit);
                each_row(state, binding, 1, [&](Row y) {
                    if (!type_.same_class() || x != y) each_value(state, x, y, visit);
                });
            });
        }
    }

    // Calls visit(row) for the objects that argument `k` may be.
    template <class Visit>
    void each_row(State const& state, std::span<Row const> binding, std::size_t k, Visit const& visit) const {
        if (!is_new_[k]) return visit(binding[pattern_.variables[k]]);
        std::size_t const rows = state.rows(type_.classes[k]);
        for (Row row = 0; row < rows; ++row) {
            bool taken = false;
            for (std::uint32_t const v : read_) taken |= is_excluded_from(k, v) && binding[v] == row;
            if (!taken) visit(row);
        }
    }

    // Calls visit(value) for the facts that hold of these objects.
    template <class Visit>
    void each_value(State const& state, Row x, Row y, Visit const& visit) {
        VectorView const first = state.value(type_.slots[0], x);
        if (type_.of_any)
            return each_other(state, type_, x, [&](VectorView other) { with_value(first, other, visit); });
        with_value(first, type_.terms == 2 ? state.value(type_.slots[1], y) : VectorView{}, visit);
    }

    template <class Visit>
    void with_value(VectorView first, VectorView second, Visit const& visit) {
        if (!type_.value(first, second, value_.data())) return;
        VectorView value = value_.view();
        if (type_.unordered() && is_new_[0]) {  // two new objects: the greater value of both directions
            std::copy(value.begin(), value.end(), swapped_.data());
            type_.kind->swap(swapped_.data(), type_.value_length);
            if (less(value, swapped_.view())) value = swapped_.view();
        }
        visit(value);
    }

    std::size_t find_or_add(VectorView value) {
        if (last_ < values_.size() && same(values_[last_], value)) return last_;  // targets are often alike
        auto const hash = static_cast<std::uint32_t>(hash_of(value, 0));
        std::uint32_t const place = index_.find(hash, [&](std::uint32_t v) { return same(values_[v], value); });
        if (place != HashIndex::none) return last_ = place;
        index_.add(hash, static_cast<std::uint32_t>(values_.size()));
        last_ = values_.size();
        values_.emplace_back(value.begin(), value.end());
        holds_.emplace_back(targets_.size());
        return values_.size() - 1;
    }

    // With a value between two that came, a test holds wherever it holds with the lower one: zero is taken, or else the
    // middle, which is wrong least often about values that are still to come.
    void append_cumulative(std::vector<KeptTest>& tests) const {
        std::vector<std::size_t> order(values_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values_[a] < values_[b]; });
        TargetSet holds(targets_.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            holds |= holds_[order[i]];
            Int const low = values_[order[i]][0];
            Int const high = i + 1 < order.size() ? values_[order[i + 1]][0] - 1 : std::max<Int>(low, 0);
            append({low <= 0 && 0 <= high ? 0 : std::midpoint(low, high)}, holds, tests);
        }
    }

    void append(Vector value, TargetSet const& holds, std::vector<KeptTest>& tests) const {
        Log const length = pattern_.description_length + length_of_value(value);
        tests.push_back({{pattern_.type, pattern_.variables, std::move(value)}, length, holds});
    }

    FactType const& type_;
    std::vector<ClassId> const& classes_;
    Pattern const& pattern_;
    std::span<KeptTarget const> targets_;
    std::array<bool, 2> is_new_{};
    std::vector<std::uint32_t> read_;  // variables whose objects decide which tests hold
    std::vector<Vector> values_;       // that came
    std::vector<TargetSet> holds_;     // by value: targets for which it held
    HashIndex index_;                  // of values_
    std::size_t last_ = 0;             // place of the value that came last
    std::optional<Int> smallest_;      // value of the current target, if a test holds with every greater one too
    std::vector<std::uint32_t> chosen_;
    Buffer value_, swapped_;
};

}  // namespace

void append_tests(std::vector<FactType> const& types, std::vector<ClassId> const& classes,
                  std::span<Pattern const> patterns, std::span<KeptTarget const> targets,
                  std::span<LookBudget* const> budgets, std::vector<KeptTest>& tests) {
    std::uint64_t most = 0;
    for (LookBudget const* const each : budgets) most = std::max(most, std::min(each->of_pattern, each->left));
    if (most == 0) return;  // a look does not count what takes no grounding
    AlikeTargets const alike(targets);
    std::vector<std::pair<std::uint64_t, std::size_t>> order;  // groundings, position
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        std::uint64_t const groundings = alike.are_alike()
                                             ? alike.groundings(types[patterns[p].type], patterns[p], classes.size())
                                             : PatternLook(types, classes, patterns[p], targets).groundings(most);
        if (groundings <= most) order.emplace_back(groundings, p);
    }
    std::sort(order.begin(), order.end());
    std::size_t const columns = targets.empty() ? 0 : targets.front().before->schema()->columns().size();
    Changes changes(targets, columns, classes.size());
    for (auto const& [groundings, p] : order) {
        auto const budget = std::find_if(budgets.begin(), budgets.end(), [&, n = groundings](LookBudget const* each) {
            return n <= std::min(each->of_pattern, each->left);
        });
        if (budget == budgets.end()) continue;
        (*budget)->left -= groundings;
        PatternLook(types, classes, patterns[p], targets).append_to(tests, changes);
    }
}

void sort_by_length(std::vector<FactType> const& types, std::size_t variables, std::vector<KeptTest>& tests) {
    std::sort(tests.begin(), tests.end(), [&](KeptTest const& a, KeptTest const& b) {
        if (a.description_length != b.description_length) return a.description_length < b.description_length;
        return canonical_order(types, variables, a.test, b.test) < 0;
    });
}

}  // namespace treethink
