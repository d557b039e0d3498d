#include "looks/look_ahead.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace treethink {

namespace {

// Tests that are tried as the first of a pair: so many of the shortest that introduce variables, of the shortest that
// do not, and of those that explain most by themselves.
constexpr std::size_t max_introducing = 96, max_others = 48, max_best = 16;
// Second tests: so many of the shortest.
constexpr std::size_t max_second = 512;
// Less than this is not worth a look; in Log units, as are the scores of criteria that look ahead.
constexpr double min_loss = 32 * static_cast<double>(units_per_nat);
// Groundings examined of one pattern and of all: for the first tests; for the second tests of all first ones, of
// patterns that take few and of patterns that take more; and for tests about objects that a join finds. A join is tried
// with so many tests about the object that it finds.
constexpr LookBudget first_groundings{1 << 14, 1 << 16}, few_groundings{1 << 10, 1 << 18},
    many_groundings{1 << 13, 1 << 17}, joined_groundings{1 << 10, 1 << 17};
static_assert(first_groundings.left + few_groundings.left + many_groundings.left + joined_groundings.left <=
              Tree::max_work_of_look);
constexpr std::size_t max_filters = 4;

/// Searches the pairs of tests at one leaf.
class PairSearch {
public:
    PairSearch(LearningContext const& context, Node const& leaf, std::span<KeptTarget const> targets,
               std::size_t arguments)
        : context_(context), types_(context.codes.types()), leaf_(leaf), targets_(targets),
          sample_(targets, leaf.stats.current_design_effect()), fixed_(leaf.variable_classes.size()) {
        bool const single = std::all_of(targets.begin(), targets.end(),
                                        [](KeptTarget const& each) { return each.bindings.size() == 1; });
        if (!single) fixed_ = arguments;
        std::vector<ClassId> const& classes = leaf.variable_classes;
        append_tests(types_, classes, patterns(types_, classes), targets, std::array{&first_}, tests_);
        sort_by_length(types_, classes.size(), tests_);
        all_ = TargetSet::all(targets.size());
        for (std::size_t i = 0; i < std::min(tests_.size(), max_second); ++i)
            own_lengths_.push_back(tests_[i].description_length);
    }

    /// How many groundings were examined.
    [[nodiscard]] std::uint64_t work() const {
        return first_groundings.left - first_.left + few_groundings.left - few_.left + many_groundings.left -
               many_.left + joined_groundings.left - joined_.left;
    }
    /// The first test of the best pair, if that is surely better than no test.
    [[nodiscard]] std::optional<CandidateId> find() {
        Criterion const& criterion = context_.criterion;
        std::vector<Count> const never(sample_.outcomes(), 0);
        double const no_test = criterion.score(never, sample_.sample());
        double const threshold = criterion.threshold(never, sample_.sample(), no_test) + price_of_looks();
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
    // A leaf is looked at again and again, each time with another sample. The two looks that come while its loss is
    // 2^(k-1) to 2^k times the least have a share of 1 / k(k+1) in alpha. And a pair has one of three forms: the second
    // test is asked where the first one holds, where it fails, or both.
    [[nodiscard]] double price_of_looks() const {
        std::vector<Count> const never(leaf_.stats.totals.size(), 0);
        double const loss = -context_.criterion.score(never, {leaf_.stats.totals, sample_.sample().design_effect});
        auto const k = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(loss / min_loss)));
        return static_cast<double>(LogTables::get().number(6 * k * (k + 1)));
    }

    static constexpr Log no_length = -1;
    /// What can be asked below a test, where the variables have given classes.
    struct ChildTests {
        std::vector<Pattern> about_bound;  // whose tests depend on what the first test binds
        std::vector<Pattern> about_new;    // of these: that mention variables which it introduces
        std::vector<Log> lengths;          // of tests_: they hold as before, but are described among more
    };

    [[nodiscard]] bool introduces(KeptTest const& each) const {
        return new_variables(types_[each.test.type], each.test, leaf_.variable_classes.size()) > 0;
    }

    // Whether a test may leave some of several bindings.
    [[nodiscard]] bool narrows(KeptTest const& each) const {
        std::size_t const own = leaf_.variable_classes.size();
        FactType const& type = types_[each.test.type];
        bool narrows = false;
        for (std::size_t k = 0; k < type.arity; ++k)
            narrows = narrows || (each.test.variables[k] >= fixed_ && each.test.variables[k] < own);
        return narrows;
    }

    // Positions of the tests to try, ascending: by length, then in canonical order. Second looks try what is not
    // counted.
    [[nodiscard]] std::vector<std::size_t> first_tests() const {
        std::vector<std::size_t> chosen;
        std::size_t introducing = 0, others = 0;
        std::vector<std::pair<double, std::size_t>> rest;
        for (std::size_t i = 0; i < tests_.size(); ++i) {
            if (!types_[tests_[i].test.type].counted) continue;
            bool const introduces = this->introduces(tests_[i]);
            if (tests_[i].holds == all_ && !introduces && !narrows(tests_[i])) continue;
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
        TargetSet const failed = all_ - first.holds;
        double const gain_if_failed = gain(failed, own_lengths_);
        bool const binds = introduces(first) || narrows(first);
        double const gain_if_held = binds ? gain_with_bindings(first) : gain(first.holds, own_lengths_);
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
    // Where the first test holds, it has bound new variables, or left some bindings of older ones: tests about these
    // are evaluated again.
    [[nodiscard]] double gain_with_bindings(KeptTest const& first) {
        bind(first);
        ChildTests const& child = child_tests(child_classes_);
        about_bound_.clear();
        append_tests(types_, child_classes_, child.about_bound, child_targets_, std::array{&few_, &many_},
                     about_bound_);
        double const of_pair = gain_of_tests(first.holds, child);
        bool const may_choose = is_join(first) && count_bindings() > first.holds.count();
        return may_choose ? std::max(of_pair, gain_of_triples(first, child)) : of_pair;
    }
    [[nodiscard]] double gain_of_tests(TargetSet const& half, ChildTests const& child) {
        second_.clear();
        for (std::size_t i = 0; i < child.lengths.size(); ++i)
            if (child.lengths[i] != no_length) second_.push_back({&tests_[i].holds, child.lengths[i]});
        for (KeptTest const& each : about_bound_) second_.push_back({&each.holds, each.description_length});
        return gain(half);
    }

    // ---- joins ----

    // Whether a test finds an object by a value that one of the node's objects has too: a pointer, or an argument.
    [[nodiscard]] bool is_join(KeptTest const& each) const {
        FactType const& type = types_[each.test.type];
        bool const zero = std::all_of(each.test.value.begin(), each.test.value.end(), [](Int v) { return v == 0; });
        return type.counted && type.arity == 2 && zero &&
               new_variables(type, each.test, leaf_.variable_classes.size()) == 1;
    }
    // Where objects stand for statements, such as on(3, 5), it takes two tests to find one: that it is about an object,
    // which several are, and that it is true. Only the third may then explain something.
    [[nodiscard]] double gain_of_triples(KeptTest const& first, ChildTests const& child) {
        std::vector<KeptTest> const filters = filters_of(first);
        std::vector<KeptTarget> const bound = child_targets_;
        std::size_t const all = count_bindings();
        double best = 0;
        for (KeptTest const& filter : filters) {
            if (joined_.left == 0) break;
            keep_bindings(bound, filter.test);
            if (count_bindings() == all) continue;
            about_bound_.clear();
            append_tests(types_, child_classes_, child.about_new, child_targets_, std::array{&joined_}, about_bound_);
            TargetSet const rest = first.holds - filter.holds;
            double const of_filter = without_test(filter.holds) + without_test(rest) - without_test(first.holds) -
                                     static_cast<double>(filter.description_length);
            double const of_last = gain_of_tests(filter.holds, child);
            if (context_.criterion.surely_better(of_last, 0, sample_.size()))
                best = std::max(best, of_filter + of_last);
        }
        return best;
    }
    // Tests about one bound object that hold for most targets of the first test, and so tell little by themselves:
    // those that hold for most come first, then the shortest.
    [[nodiscard]] std::vector<KeptTest> filters_of(KeptTest const& first) const {
        std::vector<KeptTest> filters;
        for (KeptTest const& each : about_bound_) {
            FactType const& type = types_[each.test.type];
            bool const is_about_bound = new_variables(type, each.test, child_classes_.size()) == 0;
            if (type.arity == 1 && type.counted && is_about_bound && 2 * each.holds.count() > first.holds.count())
                filters.push_back(each);
        }
        std::sort(filters.begin(), filters.end(), [&](KeptTest const& a, KeptTest const& b) {
            if (a.holds.count() != b.holds.count()) return a.holds.count() > b.holds.count();
            if (a.description_length != b.description_length) return a.description_length < b.description_length;
            return canonical_order(types_, child_classes_.size(), a.test, b.test) < 0;
        });
        if (filters.size() > max_filters) filters.resize(max_filters);
        return filters;
    }
    [[nodiscard]] std::size_t count_bindings() const {
        std::size_t count = 0;
        for (KeptTarget const& each : child_targets_) count += each.bindings.size();
        return count;
    }
    // Of the bindings of each target, those for which the test holds.
    void keep_bindings(std::vector<KeptTarget> const& bound, Test const& test) {
        for (std::size_t t = 0; t < bound.size(); ++t)
            extend(FactsOnDemand(*bound[t].before), types_[test.type], test, child_classes_, bound[t].bindings,
                   child_targets_[t].bindings);
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
            child.after = targets_[t].after;
            child.bindings.width = child_classes_.size();
            child.bindings.rows.clear();
            if (first.holds[t])
                extend(FactsOnDemand(*child.before), type, first.test, leaf_.variable_classes, targets_[t].bindings,
                       child.bindings);
        }
    }

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
            if (depends_on_bindings(pattern, classes)) {
                if (!types_[pattern.type].counted) continue;  // a second look at the child may find them
                child.about_bound.push_back(pattern);
                bool const is_new =
                    std::any_of(pattern.variables.begin(), pattern.variables.begin() + types_[pattern.type].arity,
                                [&](std::uint32_t v) { return v >= own && v < bound; });
                if (is_new) child.about_new.push_back(pattern);
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

    // Whether a pattern mentions variables that the first test may have bound anew, or new ones of the class of one.
    [[nodiscard]] bool depends_on_bindings(Pattern const& pattern, std::vector<ClassId> const& classes) const {
        FactType const& type = types_[pattern.type];
        auto const bound = classes.begin() + static_cast<std::ptrdiff_t>(fixed_);
        for (std::size_t k = 0; k < type.arity; ++k) {
            bool const is_new = pattern.variables[k] >= classes.size();
            if (is_new ? std::find(bound, classes.end(), type.classes[k]) != classes.end()
                       : pattern.variables[k] >= fixed_)
                return true;
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
    std::size_t fixed_;             // so many variables stand for the same objects in all bindings of a target
    std::vector<KeptTest> tests_;   // of the leaf, the shortest first
    std::vector<Log> own_lengths_;  // theirs, of as many as are second tests
    std::map<std::vector<ClassId>, ChildTests> by_classes_;
    LookBudget first_ = first_groundings, few_ = few_groundings, many_ = many_groundings, joined_ = joined_groundings;

    // Scratch space.
    std::vector<ClassId> child_classes_;
    std::vector<KeptTarget> child_targets_;
    std::vector<KeptTest> about_bound_;
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
    return context_.criterion.score(never, sample) <= -min_loss;
}

bool LookAhead::decide(NodeId at, std::span<KeptTarget const> targets) {
    if (targets.size() < min_targets) return false;
    PairSearch search(context_, tree_.nodes_[at], targets, tree_.arguments().size());
    auto const first = search.find();
    tree_.note_look_work(search.work(), first.has_value());
    if (first) tree_.set_test(context_, at, *first, Decision::split);
    return first.has_value();
}

}  // namespace treethink
