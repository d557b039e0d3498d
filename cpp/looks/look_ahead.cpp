#include "looks/look_ahead.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace treethink {

namespace {

// Tests that are tried as the first of a pair: so many of the shortest that introduce variables, of the shortest that
// do not, and of those that explain most by themselves.
constexpr std::size_t max_introducing = 96, max_others = 48, max_best = 16;
// Second tests: so many of the shortest.
constexpr std::size_t max_second = 512;
// Groundings examined for the second tests of one first test; and for all together, of patterns that take more.
constexpr LookBudget few_groundings{1'024, 8'192};
constexpr LookBudget many_groundings{8'192, 131'072};

/// Searches the pairs of tests at one leaf.
class PairSearch {
public:
    PairSearch(LearningContext const& context, Node const& leaf, std::span<KeptTarget const> targets)
        : context_(context), types_(context.codes.types()), leaf_(leaf), targets_(targets),
          sample_(targets, leaf.stats.current_design_effect()) {
        LookBudget budget;
        std::vector<ClassId> const& classes = leaf.variable_classes;
        for (Pattern const& pattern : patterns(types_, classes))
            append_tests(types_, classes, pattern, targets, budget, tests_);
        std::sort(tests_.begin(), tests_.end(), [&](KeptTest const& a, KeptTest const& b) {
            if (a.description_length != b.description_length) return a.description_length < b.description_length;
            return canonical_order(types_, classes.size(), a.test, b.test) < 0;
        });
        for (std::size_t t = 0; t < targets.size(); ++t) all_.set(t);
        for (std::size_t i = 0; i < std::min(tests_.size(), max_second); ++i)
            own_lengths_.push_back(tests_[i].description_length);
    }

    /// The first test of the best pair, if that is surely better than no test.
    [[nodiscard]] std::optional<CandidateId> find() {
        Criterion const& criterion = context_.criterion;
        std::vector<Count> const never(sample_.outcomes(), 0);
        double const no_test = criterion.score(never, sample_.sample());
        double const threshold = criterion.threshold(never, sample_.sample(), no_test);
        std::optional<CandidateId> best;
        double best_worth = -std::numeric_limits<double>::infinity();
        for (std::size_t const first : first_tests()) {
            auto const candidate = candidate_of(tests_[first].test);
            if (!candidate) continue;
            double const worth = worth_of(tests_[first]);
            if (worth > best_worth && criterion.surely_better(worth, threshold, sample_.size())) {
                best = candidate;
                best_worth = worth;
            }
        }
        return best;
    }

private:
    [[nodiscard]] bool introduces(KeptTest const& each) const {
        return new_variables(types_[each.test.type], each.test, leaf_.variable_classes.size()) > 0;
    }

    // Positions of the tests to try, ascending: by length, then in canonical order.
    [[nodiscard]] std::vector<std::size_t> first_tests() const {
        std::vector<std::size_t> chosen;
        std::size_t introducing = 0, others = 0;
        std::vector<std::pair<double, std::size_t>> rest;
        for (std::size_t i = 0; i < tests_.size(); ++i) {
            bool const introduces = this->introduces(tests_[i]);
            if (tests_[i].holds == all_ && !introduces) continue;
            if (introduces ? introducing++ < max_introducing : others++ < max_others)
                chosen.push_back(i);
            else
                rest.emplace_back(-single_worth(tests_[i]), i);
        }
        std::sort(rest.begin(), rest.end());
        for (std::size_t i = 0; i < std::min(rest.size(), max_best); ++i) chosen.push_back(rest[i].second);
        std::sort(chosen.begin(), chosen.end());
        return chosen;
    }

    // What a test is worth by itself.
    [[nodiscard]] double single_worth(KeptTest const& each) const {
        std::vector<Count> counts;
        sample_.count(each.holds, counts);
        return context_.criterion.score(counts, sample_.sample()) - static_cast<double>(each.description_length);
    }

    // The candidate of the leaf that a test is; nothing if it is none.
    [[nodiscard]] std::optional<CandidateId> candidate_of(Test const& test) const {
        if (!types_[test.type].counted) return std::nullopt;
        Code const code = context_.codes.find(test.type, test.value);
        auto const block = find_block(types_, leaf_.variable_classes, test);
        if (code == no_code || !block) return std::nullopt;
        BlockCounters const* const counters = leaf_.candidates.find(*block);
        bool const known = counters != nullptr && counters->find_column(code) != BlockCounters::kNoColumn;
        return known ? std::optional(CandidateId{*block, code}) : std::nullopt;
    }

    // The score of the leaves of a pair, less the description lengths of its tests, with the best second test where the
    // first one holds, where it fails, or both. Minus infinity if no second test is surely worth its length.
    [[nodiscard]] double worth_of(KeptTest const& first) {
        TargetSet const failed = all_ & ~first.holds;
        double const gain_if_failed = gain(failed, own_lengths_);
        double const gain_if_held =
            introduces(first) ? gain_with_new_variables(first) : gain(first.holds, own_lengths_);
        if (!context_.criterion.surely_better(std::max(gain_if_held, gain_if_failed), 0, sample_.size()))
            return -std::numeric_limits<double>::infinity();
        return without_test(first.holds) + without_test(failed) - static_cast<double>(first.description_length) +
               std::max(gain_if_held, 0.0) + std::max(gain_if_failed, 0.0);
    }

    [[nodiscard]] double without_test(TargetSet const& half) {
        sample_.count(half, totals_);
        counts_.assign(totals_.size(), 0);
        return context_.criterion.score(counts_, sample_of_half());
    }
    [[nodiscard]] Sample sample_of_half() const {
        return {totals_, sample_.sample().design_effect, sample_.outcomes()};
    }

    // What the best second test adds in a half, less its length; `lengths` are those of tests_, or none.
    [[nodiscard]] double gain(TargetSet const& half, std::vector<Log> const& lengths) {
        second_.clear();
        for (std::size_t i = 0; i < lengths.size(); ++i)
            if (lengths[i] != no_length) second_.push_back({&tests_[i].holds, lengths[i]});
        return gain(half);
    }
    // Where the first test holds, and has bound new variables, tests about these can be asked too.
    [[nodiscard]] double gain_with_new_variables(KeptTest const& first) {
        bind(first);
        ChildTests const& child = child_tests(child_classes_);
        LookBudget few = few_groundings;
        about_new_.clear();
        for (Pattern const& pattern : child.about_new)
            if (!append_tests(types_, child_classes_, pattern, child_targets_, few, about_new_))
                append_tests(types_, child_classes_, pattern, child_targets_, many_, about_new_);
        second_.clear();
        for (std::size_t i = 0; i < child.lengths.size(); ++i)
            if (child.lengths[i] != no_length) second_.push_back({&tests_[i].holds, child.lengths[i]});
        for (KeptTest const& each : about_new_) second_.push_back({&each.holds, each.description_length});
        return gain(first.holds);
    }

    // The best of `second_`, in a half.
    [[nodiscard]] double gain(TargetSet const& half) {
        double const none = without_test(half);
        if (!context_.criterion.surely_better(0, none, sample_.size())) return 0;
        std::size_t const n = second_.size();
        counts_.resize(sample_.outcomes() * n);
        for (std::size_t i = 0; i < n; ++i) {
            sample_.count(half & *second_[i].holds, counts_of_test_);
            for (std::size_t y = 0; y < sample_.outcomes(); ++y) counts_[y * n + i] = counts_of_test_[y];
        }
        context_.criterion.scores(counts_.data(), n, n, sample_of_half(), scores_);
        double best = none;
        for (std::size_t i = 0; i < n; ++i)
            best = std::max(best, scores_[i] - static_cast<double>(second_[i].description_length));
        return best - none;
    }

    // ---- new variables ----

    // Extends the bindings of the targets for which the test holds. The others keep their places, without bindings.
    void bind(KeptTest const& first) {
        FactType const& type = types_[first.test.type];
        child_classes_ = extended_classes(type, first.test, leaf_.variable_classes);
        child_targets_.resize(targets_.size());
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            KeptTarget& child = child_targets_[t];
            child.before = targets_[t].before;
            child.bindings.width = child_classes_.size();
            child.bindings.rows.clear();
            if (first.holds[t])
                extend(FactsOnDemand(*child.before), type, first.test, leaf_.variable_classes, targets_[t].bindings,
                       child.bindings);
        }
    }

    static constexpr Log no_length = -1;
    /// What can be asked below a test that binds new variables of given classes.
    struct ChildTests {
        std::vector<Pattern> about_new;  // that mention them, or other objects of their classes
        std::vector<Log> lengths;        // of tests_: they hold as before, but are described among more
    };
    using Asked = std::pair<std::size_t, std::array<std::uint32_t, 2>>;  // type and variables

    ChildTests const& child_tests(std::vector<ClassId> const& classes) {
        auto const known = by_classes_.find(classes);
        if (known != by_classes_.end()) return known->second;
        ChildTests child;
        auto const own = static_cast<std::uint32_t>(leaf_.variable_classes.size());
        auto const bound = static_cast<std::uint32_t>(classes.size());
        std::map<Asked, Log> lengths;  // by pattern, with the leaf's own numbers of variables
        for (Pattern const& pattern : patterns(types_, classes)) {
            Asked asked{pattern.type, pattern.variables};
            if (is_about_new(pattern, classes, own)) {
                child.about_new.push_back(pattern);
                continue;
            }
            for (std::uint32_t& v : asked.second)
                if (v >= bound) v -= bound - own;
            lengths[asked] = pattern.description_length;
        }
        for (std::size_t i = 0; i < own_lengths_.size(); ++i) {
            KeptTest const& each = tests_[i];
            auto const length = lengths.find({each.test.type, each.test.variables});
            bool const same = length != lengths.end();
            child.lengths.push_back(same ? length->second + length_of_value(each.test.value) : no_length);
        }
        return by_classes_.emplace(classes, std::move(child)).first->second;
    }

    // Whether a pattern mentions variables from `own` on that are bound, or new ones of the same class as one of these.
    [[nodiscard]] bool is_about_new(Pattern const& pattern, std::vector<ClassId> const& classes,
                                    std::uint32_t own) const {
        FactType const& type = types_[pattern.type];
        for (std::size_t k = 0; k < type.arity; ++k) {
            std::uint32_t const v = pattern.variables[k];
            if (v >= own && v < classes.size()) return true;
            bool const same_class = std::find(classes.begin() + own, classes.end(), type.classes[k]) != classes.end();
            if (v >= classes.size() && same_class) return true;
        }
        return false;
    }

    /// A second test: for which targets it holds, and its length.
    struct SecondTest {
        TargetSet const* holds;
        Log description_length;
    };

    LearningContext const& context_;
    std::vector<FactType> const& types_;
    Node const& leaf_;
    std::span<KeptTarget const> targets_;
    LookSample sample_;
    TargetSet all_;
    std::vector<KeptTest> tests_;     // of the leaf, the shortest first
    std::vector<Log> own_lengths_;    // theirs, of as many as are second tests
    std::map<std::vector<ClassId>, ChildTests> by_classes_;
    LookBudget many_ = many_groundings;

    // Scratch space.
    std::vector<ClassId> child_classes_;
    std::vector<KeptTarget> child_targets_;
    std::vector<KeptTest> about_new_;
    std::vector<SecondTest> second_;
    std::vector<Count> totals_, counts_, counts_of_test_;
    std::vector<double> scores_;
};

}  // namespace

bool LookAhead::is_worth_while(NodeId at) const {
    Node const& leaf = tree_.nodes_[at];
    NodeStats const& stats = leaf.stats;
    bool const full = leaf.depth >= max_depth || leaf.variable_classes.size() >= max_variables;
    if (!leaf.is_leaf()) return false;
    if (leaf.edits.pinned || leaf.edits.hand_written || full || !leaf.candidates.are_counted()) return false;
    if (stats.n < min_targets || stats.is_pure()) return false;
    std::vector<Count> const never(stats.totals.size(), 0);
    Sample const sample{stats.totals, stats.current_design_effect()};
    double const no_test = context_.criterion.score(never, sample);
    // A pair is two tests, each of which must be worth something.
    return context_.criterion.surely_better(0, no_test / 2, stats.n);
}

bool LookAhead::decide(NodeId at, std::span<KeptTarget const> targets) {
    if (targets.size() < min_targets) return false;
    auto const first = PairSearch(context_, tree_.nodes_[at], targets).find();
    if (first) tree_.set_test(context_, at, *first, Decision::split);
    return first.has_value();
}

}  // namespace treethink
