// tree.hpp - a first-order logical decision tree that is learned one transition at a time.
//
// Every node counts, for each candidate test, how often it held together with each outcome.
// A leaf splits when its best candidate is surely better than no test; a branch changes its
// test for a surely better one, and becomes a leaf again when its test has lost its worth.
//
//   observe(targets):   for each target: route it from the root, counting at every node
//                       for each touched node: forget candidates beyond the limit
//                       from the root down over touched nodes: decide
//
// docs/algorithm.md lists the paper's steps beside these functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coding/codes.hpp"
#include "inference/routing.hpp"
#include "learning/criterion.hpp"
#include "learning/logs.hpp"

namespace treethink {

class Writer;
class Reader;

struct Settings {
    double alpha = 0.01;
    std::string criterion = "wilson";
    bool branch_updates = true;
    std::uint64_t max_candidates = 100'000;
    std::uint64_t memory = 0;  // transitions that are kept
};

/// Larger numbers are no counts of anything, and counting on from them would overflow.
inline constexpr std::uint64_t most_seen = std::uint64_t{1} << 62;
/// A tree never grows deeper than this.
inline constexpr std::uint32_t deepest = 1000;
/// A node with this many variables never splits: candidates grow with their square.
inline constexpr std::size_t most_variables = 128;
/// A tree asks about so many given objects at most.
inline constexpr std::size_t most_arguments = 16;

enum class Decision { split, change, back };

/// One decision: at which node (path of L and R from the root), and the node's new test.
struct Event {
    Decision kind;
    std::string path;
    std::optional<Test> test;
    std::size_t variables;  // that the node has without its test
};

/// All candidates of a node that ask the same fact type of the same variables.
///
/// Counters are rows [outcome][code]. A test that mentions no variable of the node mostly keeps
/// its truth from one visit to the next, so its counter is only touched when that changes: while
/// its bit is set it stands for `counter + totals`, and the totals at the moment of change were
/// taken off.
struct Block {
    std::size_t type = 0;
    std::array<std::uint32_t, 2> variables{};
    enum class Mentions : std::uint8_t { bound, both, fresh } mentions = Mentions::bound;  // which variables
    std::array<bool, 2> is_new{};
    Log length = 0;  // what it takes to say that a test is one of these
    // By argument, where it is a new variable: the known ones of its class, from which it must differ.
    std::array<std::vector<std::uint32_t>, 2> rivals;
    std::vector<std::uint32_t> reads;  // variables whose objects decide what is true: arguments and rivals

    Code stride = 0;
    std::vector<Count> counts;
    std::vector<std::uint32_t> births;  // transition in which a candidate was first true; 0: none yet
    std::vector<std::uint64_t> bits;
    std::uint64_t version = 0;  // of the truth that `bits` follows
    bool pending = false;       // whether any bit may be set
    bool excluded = false;      // whether rivals held some of that truth false

    [[nodiscard]] bool has_rivals() const { return !rivals[0].empty() || !rivals[1].empty(); }

    [[nodiscard]] bool bit(Code code) const {
        return code / 64 < bits.size() && (bits[code / 64] >> (code % 64) & 1) != 0;
    }
};

/// How often targets of one transition that came by a node had the same outcome.
///
/// Eight objects that share one coin are one toss, not eight. The design effect of a sample of such clusters is
/// 1 + (size - 1) x correlation: that many copies count as one.
class Together {
public:
    /// A target of this transition; `outcomes` is how many there are.
    void add(std::uint64_t transition, std::uint32_t outcome, std::size_t outcomes);
    [[nodiscard]] std::uint64_t copies(Counts totals, std::uint64_t n) const;
    [[nodiscard]] std::size_t bytes() const { return by_outcome_.capacity() * sizeof(Count); }

    std::uint64_t pairs = 0, agreeing = 0;

private:
    std::uint64_t transition_ = 0;  // the last one
    std::uint64_t met_ = 0;         // its targets so far
    std::vector<Count> by_outcome_;
};

struct Node {
    std::uint32_t parent = 0, left = 0, right = 0;  // left == 0: a leaf
    std::uint32_t depth = 0;
    std::uint64_t touched = 0;  // the last transition that came by
    enum class Stage : std::uint8_t { grown, fresh, seeded } stage = Stage::grown;
    bool rests = false;            // a branch below which everything is explained: it does not count what comes by
    bool pinned = false;           // what it says stays: it neither counts nor decides
    bool written = false;          // by hand: a branch keeps its test, a leaf says what it was given until it counts
    bool held = false;             // a branch above something pinned or written, or so itself: it keeps its test
    std::vector<ClassId> classes;  // of its variables
    std::vector<Count> totals;     // by outcome
    std::uint64_t n = 0;
    std::vector<std::uint64_t> given;  // by outcome: what it answers with besides what it has counted; empty: nothing
    std::uint64_t given_n = 0;
    std::vector<std::uint64_t> met;  // by outcome, at a pinned leaf: what came by
    Together together;
    std::uint64_t copies = 1;  // as `together` had it when `bound` was made
    std::vector<Block> blocks;
    std::uint64_t candidates = 0;
    double bound = 0;              // no challenger's score is above this
    Log looked_at = 0;             // how much there was to explain when challengers were last thought of
    std::uint64_t look_again = 0;  // there cannot be much more before it has counted so many
    Test test;
    std::size_t test_block = 0;
    Code test_code = no_code;

    [[nodiscard]] bool is_leaf() const { return left == 0; }
    /// One outcome only: nothing to explain.
    [[nodiscard]] bool is_pure() const;
    /// It has nothing of its own to answer with.
    [[nodiscard]] bool is_empty() const { return n + given_n == 0; }
    [[nodiscard]] Sample sample() const { return {totals, copies}; }
};

/// Room that counting uses again and again, by code.
struct Scratch {
    std::vector<std::uint32_t> marks, tally;
    std::uint32_t epoch = 0;
    std::vector<Code> tallied, excluded;
    std::vector<std::uint32_t> chosen;
    std::array<std::vector<Row>, 2> rows;  // by argument
    Bindings bindings, extended;
    std::vector<std::uint32_t> open, ends;
    std::vector<Count> counts;
    std::vector<double> scores;
};

/// What all trees of a model share while they learn.
struct Learning {
    Codes& codes;
    Criterion const& criterion;
    Settings const& settings;
    Scratch& scratch;
    State const& state;          // the one that `codes` is turned to
    std::vector<Event>& events;  // appended to
};

enum class FactsMode { demand, full };
enum class BindingsMode { first, all };

/// A tree as it was at one moment, nodes in preorder.
struct TreeSnapshot {
    struct Candidate {
        Test test;
        std::vector<Count> counts;
    };
    struct Node {
        std::optional<std::size_t> left, right;
        std::vector<ClassId> classes;
        std::vector<std::uint64_t> counts;  // what it has counted, and what was given
        std::optional<Test> test;
        bool pinned, written, given;
        std::vector<std::uint64_t> met;
        std::vector<Candidate> candidates;  // in canonical order
    };
    std::uint64_t transitions = 0;
    std::vector<Vector> outcomes;
    std::vector<std::uint64_t> seen;
    std::vector<Node> nodes;
};

/// A node of a tree that was written by hand.
struct Written {
    std::optional<Test> test;                                // of a branch
    std::vector<std::pair<Vector, std::uint64_t>> outcomes;  // of a leaf: how often each is taken to have been seen
};

class Tree {
public:
    explicit Tree(std::vector<ClassId> arguments = {}) : arguments_(std::move(arguments)) {}

    /// An object (or several) whose outcome was seen; `outcome` is a position in outcomes().
    struct Target {
        std::span<Row const> arguments;
        std::uint32_t outcome;
    };

    [[nodiscard]] std::vector<ClassId> const& arguments() const { return arguments_; }
    [[nodiscard]] std::vector<Vector> const& outcomes() const { return outcomes_; }
    [[nodiscard]] std::vector<std::uint64_t> const& seen() const { return seen_; }
    [[nodiscard]] std::uint64_t transitions() const { return now_; }
    /// While one outcome only was ever seen there is nothing to learn, and there are no nodes, unless given by hand.
    [[nodiscard]] bool varies() const { return !nodes_.empty(); }
    [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }

    /// Position of an outcome, or nothing.
    [[nodiscard]] std::optional<std::uint32_t> find_outcome(VectorView outcome) const;
    /// Adds outcomes in canonical order; those already known are ignored.
    void add_outcomes(std::vector<Vector> fresh);

    /// A transition in which all `n` targets had the only outcome there is. Only while !varies().
    void observe_constant(std::uint64_t n);
    /// One transition. All outcomes have been added before.
    void observe(Learning& learning, std::span<Target const> targets);

    // With a memory, new nodes first count the kept transitions that reach them: seed() is called for
    // each of those, then end_seeding(). What they have counted may call for decisions; those wait
    // for the next transition (of any rule), so that nobody ever waits for more than one replay.
    [[nodiscard]] bool has_fresh() const { return !fresh_.empty(); }
    void seed(Learning& learning, std::span<Target const> targets);
    void end_seeding(Learning& learning);
    /// Which nodes wait for that, as places in preorder; set_seeded() is for loading.
    [[nodiscard]] std::vector<std::size_t> seeded() const;
    void set_seeded(std::vector<std::size_t> const& places);
    void decide_seeded(Learning& learning);

    /// The node that a target ends in. `source` is FactsOnDemand or FactsInFull.
    template <class Source>
    [[nodiscard]] std::uint32_t route(Source const& source, std::vector<FactType> const& types,
                                      std::span<Row const> arguments, BindingsMode mode) const;
    /// The node whose counts a leaf answers with: itself; if it has seen nothing, its nearest
    /// ancestor that has. The root answers with all it ever saw, unless it was given something else.
    [[nodiscard]] std::uint32_t answering(std::uint32_t leaf) const;
    [[nodiscard]] std::uint64_t answer_count(std::uint32_t node, std::size_t outcome) const {
        if (answers_with_all(node)) return seen_[outcome];
        Node const& own = nodes_[node];
        return own.totals[outcome] + (own.given.empty() ? 0 : own.given[outcome]);
    }
    [[nodiscard]] std::uint64_t answer_total(std::uint32_t node) const;

    // ---- editing: what people change (editing.cpp). A node is found by its path of L and R from the root.

    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view path) const;
    /// Puts nodes in preorder in the place of a node and all below it; they are pinned.
    /// Throws RuleError, having changed nothing. A tree without nodes gets its first ones.
    void replace(std::uint32_t at, std::vector<Written> const& nodes, std::vector<FactType> const& types);
    /// From now on everything below the node says what it says now. Throws RuleError if there is nothing to say.
    void pin(std::uint32_t at);
    /// Everything below the node learns again, from what it has met on; `fresh`: written leaves are to be seeded.
    void unpin(std::uint32_t at, std::vector<FactType> const& types, bool fresh);
    /// Puts one child in the place of a branch. `merge`: the other one's tests are the same and its leaves say the
    /// same; what those have seen goes over. Throws RuleError, having changed nothing.
    void keep_child(std::uint32_t at, bool left, bool merge);
    /// Which tests must stay; to be called when something was edited.
    void find_held();

    /// A copy for readers; candidates only when asked for, since there are thousands.
    [[nodiscard]] TreeSnapshot snapshot(Codes const& codes, bool with_candidates) const;
    /// How many candidates have been dropped for `max_candidates`.
    [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

    /// Which branches rest; to be called when leaves or tests have changed.
    void find_rest(Criterion const& criterion);
    void recode(Codes const& codes, Recoding const& recoding);
    void mark_used(std::size_t type, std::vector<bool>& used) const;
    [[nodiscard]] std::size_t bytes() const;

    void save(Writer& out, Codes const& codes) const;
    /// Reads into a tree that has seen nothing; returns how codes changed on the way, which other
    /// trees must follow. Throws ModelFileError for anything that save() could not have written.
    std::vector<Recoding> load(Reader& in, Codes& codes, std::size_t outcome_length, bool branch_updates);

private:
    friend class TreeLoader;

    [[nodiscard]] bool answers_with_all(std::uint32_t node) const {
        return node == 0 && (nodes_.empty() || nodes_[0].given.empty());
    }
    void check_size(std::size_t nodes, std::vector<Vector> named) const;
    void give(std::uint32_t node, std::vector<std::uint64_t> const& counts);
    [[nodiscard]] std::vector<std::uint64_t> answer_of(std::uint32_t node) const;
    [[nodiscard]] std::vector<std::uint32_t> below(std::uint32_t node) const;
    void move_up(std::uint32_t child);
    [[nodiscard]] std::uint32_t add_node(std::uint32_t parent, std::vector<ClassId> classes);
    void drop_below(std::uint32_t node);
    void add_children(std::uint32_t node, std::vector<FactType> const& types);
    void count_targets(Learning& learning, std::span<Target const> targets);
    template <class Visit>
    std::uint32_t walk(Learning& learning, Target const& target, Visit&& visit);
    void count(Learning& learning, Node& node, std::uint32_t outcome);
    void make_fresh(std::uint32_t node);
    void decide(Learning& learning);
    [[nodiscard]] double explained_below(Learning& learning, std::uint32_t node) const;
    bool decide_node(Learning& learning, std::uint32_t node);
    void adopt(Learning& learning, std::uint32_t node, std::size_t block, Code code, Decision kind);
    void report(Learning& learning, std::uint32_t node, Decision kind) const;
    [[nodiscard]] std::string path(std::uint32_t node) const;
    [[nodiscard]] std::vector<std::uint32_t> preorder() const;
    [[nodiscard]] std::vector<TreeSnapshot::Candidate> candidates(Codes const& codes, Node const& node) const;

    std::vector<ClassId> arguments_;
    std::vector<Vector> outcomes_;
    std::vector<std::uint64_t> seen_;  // by outcome, from the very first transition on
    std::uint64_t now_ = 0;            // transitions so far
    std::uint64_t counted_ = 0;        // the same with kept ones counted again: a stamp
    std::vector<Node> nodes_;          // the root first
    std::vector<std::uint32_t> free_;
    std::uint64_t forgotten_ = 0;
    std::vector<std::uint32_t> fresh_;  // nodes that wait for their seed
};

/// Tells trees that share `codes` how those have changed.
void recode(std::span<Tree> trees, Codes const& codes, std::vector<Recoding> const& recodings);
/// Forgets codes that no candidate of any tree needs, where they have become many.
void collect_codes(std::span<Tree> trees, Codes& codes);

}  // namespace treethink
