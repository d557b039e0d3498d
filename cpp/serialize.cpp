#include "serialize.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "editing.hpp"
#include "learning/tree.hpp"

namespace treethink {

void Writer::number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(value));
}

void Writer::integer(Int value) {
    auto const bits = static_cast<std::uint64_t>(value);
    number(value < 0 ? ~(bits << 1) : bits << 1);
}

void Writer::vector(VectorView value) {
    for (Int const each : value) integer(each);
}

std::uint64_t Reader::number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (at_ == bytes_.size()) throw ModelFileError("the model file ends in the middle of a number");
        std::uint64_t const byte = bytes_[at_++];
        if (shift == 63 && byte > 1) throw ModelFileError("the model file has a number that does not fit 64 bits");
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
}

std::uint64_t Reader::number(std::uint64_t max, char const* what) {
    std::uint64_t const value = number();
    if (value > max)
        throw ModelFileError("the model file has " + std::string(what) + " " + std::to_string(value) + ", at most " +
                             std::to_string(max) + " is possible");
    return value;
}

std::size_t Reader::count(char const* what) { return static_cast<std::size_t>(number(bytes_.size() - at_, what)); }

Int Reader::integer() {
    std::uint64_t const folded = number();
    return static_cast<Int>((folded >> 1) ^ (0 - (folded & 1)));
}

Vector Reader::vector(std::size_t length) {
    Vector value;
    for (std::size_t i = 0; i < length; ++i) value.push_back(integer());
    return value;
}

// ---- trees ----
//
// tree        transitions, outcomes with components (each: vector, times seen), flags; if the flags say so: the frame;
//             of the others and of `stays`: position, times seen; how much looks have examined; if it varies: how many
//             candidates were forgotten, nodes in preorder
// frame       whether it adds, has `stays`, has a source and jumps; the source
// node        count of each outcome, pairs in clusters, agreeing pairs, loss at the last check, flags; if the flags
//             say so: when its next second look may be, prior by outcome, what a pinned leaf has seen by outcome;
//             whether it has candidates, those, its test
// candidates  for each block: how many, then each by value: value, birth, times true by outcome
// test        fact type, variables, value; if the kind of fact is not counted and the node has candidates: times it
//             held, by outcome

namespace {

// Flags of a tree.
constexpr std::uint64_t flag_varies = 1, flag_others = 2, flag_frame = 4, flag_stays = 8, flag_looks = 16;
constexpr std::uint64_t all_tree_flags = flag_varies | flag_others | flag_frame | flag_stays | flag_looks;
// Flags of a frame.
constexpr std::uint64_t flag_adds = 1, flag_has_stays = 2, flag_source = 4, flag_jumps = 8;
constexpr std::uint64_t all_frame_flags = flag_adds | flag_has_stays | flag_source | flag_jumps;
// Flags of a node.
constexpr std::uint64_t flag_branch = 1, flag_pinned = 2, flag_hand_written = 4, flag_prior = 8, flag_next_look = 16;
constexpr std::uint64_t all_flags = flag_branch | flag_pinned | flag_hand_written | flag_prior | flag_next_look;
// In Log units: 2^32 outcomes, each of less than 2^24.
constexpr std::uint64_t max_loss = std::uint64_t{1} << 56;

struct Entry {
    Vector value;
    BlockCounters::Column column;
};

std::vector<Entry> sorted_entries(Codes const& codes, std::size_t type, BlockCounters const& counters) {
    std::vector<Entry> entries;
    entries.reserve(counters.size());
    for (BlockCounters::Column column = 0; column < counters.size(); ++column)
        entries.push_back({codes.value(type, counters.codes[column]), column});
    std::sort(entries.begin(), entries.end(), [](Entry const& a, Entry const& b) { return a.value < b.value; });
    return entries;
}

void save_candidates(Writer& out, Codes const& codes, Node const& node) {
    std::vector<Count> counts;
    BlockTable const& table = node.candidates.table();
    for (std::size_t b = 0; b < table.size(); ++b) {
        BlockCounters const* const counters = node.candidates.find(b);
        out.number(counters == nullptr ? 0 : counters->size());
        if (counters == nullptr) continue;
        for (Entry const& entry : sorted_entries(codes, table[b].type, *counters)) {
            out.vector(entry.value);
            out.number(counters->births[entry.column]);
            counters->read_column(entry.column, node.stats.totals, counts);
            for (Count const count : counts) out.number(count);
        }
    }
}

void save_test(Writer& out, Test const& test) {
    out.number(test.type);
    for (std::uint32_t const variable : test.variables) out.number(variable);
    out.vector(test.value);
}

std::uint64_t flags_of(Node const& node) {
    return (node.is_leaf() ? 0 : flag_branch) | (node.edits.pinned ? flag_pinned : 0) |
           (node.edits.hand_written ? flag_hand_written : 0) | (node.edits.prior_counts.empty() ? 0 : flag_prior) |
           (node.next_look == 0 ? 0 : flag_next_look);
}

void save_node(Writer& out, Codes const& codes, Node const& node) {
    for (Count const count : node.stats.totals) out.number(count);
    out.number(node.stats.clusters.pairs);
    out.number(node.stats.clusters.agreeing);
    out.number(static_cast<std::uint64_t>(node.stats.last_checked_loss));
    out.number(flags_of(node));
    if (node.next_look != 0) out.number(node.next_look);
    for (std::uint64_t const count : node.edits.prior_counts) out.number(count);
    if (node.edits.pinned && node.is_leaf())
        for (std::uint64_t const count : node.edits.seen_since_pinned) out.number(count);
    out.number(node.candidates.are_counted());
    if (node.candidates.are_counted()) save_candidates(out, codes, node);
    if (!node.is_leaf()) save_test(out, node.test);
    for (Count const count : node.uncounted_test.counts) out.number(count);
}

void save_frame(Writer& out, Frame const& frame) {
    out.number((frame.adds ? flag_adds : 0) | (frame.stays ? flag_has_stays : 0) | (frame.source ? flag_source : 0) |
               (frame.jumps ? flag_jumps : 0));
    if (frame.source) out.number(*frame.source);
}

}  // namespace

void save_tree(Writer& out, Tree const& tree, Codes const& codes, Frame const& usual) {
    Outcomes const& outcomes = tree.outcomes();
    auto const stays = outcomes.bare();
    out.number(tree.transitions());
    out.number(outcomes.size() - outcomes.has_others() - stays.has_value());
    for (std::size_t y = 0; y < outcomes.size(); ++y) {
        if (outcomes.values()[y].empty()) continue;
        out.vector(outcomes.values()[y]);
        out.number(tree.seen()[y]);
    }
    bool const names_frame = tree.frame() != usual;
    out.number((outcomes.has_others() ? flag_others : 0) | (tree.varies() ? flag_varies : 0) |
               (names_frame ? flag_frame : 0) | (stays ? flag_stays : 0) | (tree.look_work() > 0 ? flag_looks : 0));
    if (names_frame) save_frame(out, tree.frame());
    auto const save_position = [&](std::size_t position) {
        out.number(position);
        out.number(tree.seen()[position]);
    };
    if (outcomes.has_others()) save_position(outcomes.others());
    if (stays) save_position(*stays);
    if (tree.look_work() > 0) out.number(tree.look_work());
    if (!tree.varies()) return;
    out.number(tree.forgotten());
    for (NodeId const at : tree.preorder()) save_node(out, codes, tree.nodes()[at]);
}

/// Reads one tree. What it has read so far is always consistent with what it reads next.
class TreeReader {
public:
    TreeReader(Tree& tree, Reader& in, Codes& codes, bool branch_updates)
        : tree_(tree), in_(in), codes_(codes), branch_updates_(branch_updates) {}

    void read(Criterion const& criterion, OutcomeLimits const& limits) {
        tree_.transitions_ = in_.number(max_observations, "a number of transitions");
        bool const varies = read_outcomes(limits);
        if (varies) read_nodes();
        check_agreement(varies);
        TreeEditor::update_held(tree_);
        criterion.update_settled(tree_.nodes_);
    }

private:
    struct SeenOutcome {
        Vector outcome;
        std::uint64_t seen;
        bool others = false;
    };

    // Returns whether the rule varies.
    bool read_outcomes(OutcomeLimits const& limits) {
        std::vector<SeenOutcome> outcomes;
        for (std::size_t y = in_.count("a number of outcomes"); y > 0; --y) {
            Vector outcome = in_.vector(limits.length);
            outcomes.push_back({std::move(outcome), read_seen()});
        }
        std::uint64_t const flags = in_.number(all_tree_flags, "a flag");
        tree_.frame_ = (flags & flag_frame) ? read_frame(limits) : limits.usual;
        if ((flags & flag_stays) && (!limits.may_stay || tree_.frame_.is_change()))
            throw ModelFileError("the model file has a rule with an outcome that it cannot have");
        add_without_components(outcomes, flags);
        if (flags & flag_looks) tree_.look_work_ = read_look_work(limits);
        if ((flags & flag_others) && (outcomes.size() < 2 || !(flags & flag_varies)))
            throw ModelFileError("the model file has a rule with nothing but other outcomes");
        for (auto& [outcome, seen, others] : outcomes) {
            if (!others && tree_.outcomes_.find(outcome)) throw ModelFileError("the model file has an outcome twice");
            if (others)
                tree_.outcomes_.add_others();
            else
                tree_.outcomes_.add(std::move(outcome));
            tree_.seen_.push_back(seen);
        }
        return (flags & flag_varies) != 0;
    }

    std::uint64_t read_look_work(OutcomeLimits const& limits) {
        std::uint64_t const work = in_.number(tree_.max_look_work(), "an amount of work");
        if (!limits.takes_looks || work == 0)
            throw ModelFileError("the model file has a rule with looks that it cannot have taken");
        return work;
    }

    // The others and `stays`, each at its position among all.
    void add_without_components(std::vector<SeenOutcome>& outcomes, std::uint64_t flags) {
        std::vector<std::pair<std::size_t, SeenOutcome>> more;
        std::size_t const all = outcomes.size() + ((flags & flag_others) != 0) + ((flags & flag_stays) != 0);
        for (std::uint64_t const flag : {flag_others, flag_stays}) {
            if (!(flags & flag)) continue;
            auto const position = static_cast<std::size_t>(in_.number(all - 1, "a position of outcomes"));
            more.push_back({position, {Vector{}, read_seen(), flag == flag_others}});
        }
        if (more.size() == 2 && more[0].first > more[1].first) std::swap(more[0], more[1]);
        if (more.size() == 2 && more[0].first == more[1].first)
            throw ModelFileError("the model file has two outcomes at one position");
        for (auto& [position, outcome] : more)
            outcomes.insert(outcomes.begin() + static_cast<std::ptrdiff_t>(position), std::move(outcome));
    }

    Frame read_frame(OutcomeLimits const& limits) {
        std::uint64_t const flags = in_.number(all_frame_flags, "a flag");
        Frame frame{(flags & flag_adds) != 0, (flags & flag_has_stays) != 0, std::nullopt, (flags & flag_jumps) != 0};
        constexpr std::uint64_t max_slot = std::numeric_limits<std::uint32_t>::max();
        if (flags & flag_source) frame.source = SlotId(static_cast<std::size_t>(in_.number(max_slot, "an attribute")));
        std::vector<Frame> const frames = limits.frames ? limits.frames() : std::vector<Frame>{};
        bool const known = std::find(frames.begin(), frames.end(), frame) != frames.end();
        if (!known || frame == limits.usual)
            throw ModelFileError("the model file has a rule in a frame that is not possible for its attribute");
        return frame;
    }

    std::uint64_t read_seen() {
        std::uint64_t const seen = in_.number(max_observations - seen_, "a count");
        seen_ += seen;
        return seen;
    }

    // Whether outcomes, transitions and answers fit together.
    void check_agreement(bool varies) const {
        std::size_t const outcomes = tree_.outcomes_.size();
        for (std::size_t y = 0; y < outcomes; ++y)
            if (tree_.seen_[y] == 0 && !is_only_named(y) && !tree_.outcomes_.has_others())
                throw ModelFileError("the model file has an outcome that was never seen");
        if (varies && !tree_.outcomes_.has_others() && !tree_.nodes_[kRoot].edits.prior_counts.empty() &&
            tree_.nodes_[kRoot].stats.n + tree_.nodes_[kRoot].edits.prior_n == 0)
            throw ModelFileError("the model file has a rule that says nothing");
        bool const has_prior = varies && tree_.nodes_[kRoot].edits.prior_n > 0;
        bool const agree = (varies ? seen_ > 0 : outcomes < 2) && (seen_ == 0) == (tree_.transitions_ == 0);
        if (!has_prior && !agree)
            throw ModelFileError("the model file has a rule whose outcomes and transitions do not agree");
    }

    // People name outcomes that were never seen: no node has counted these. (If there are others, people may also name
    // one that was seen when it was one of those, and a replay may count it.)
    [[nodiscard]] bool is_only_named(std::size_t outcome) const {
        auto const& nodes = tree_.nodes_;
        auto const not_counted = [&](Node const& node) { return node.stats.totals[outcome] == 0; };
        return !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), not_counted);
    }

    void read_nodes() {
        tree_.forgotten_ = in_.number();
        std::vector<NodeId> open{tree_.add_node(kNoNode, VariableClasses(tree_.arguments_))};
        while (!open.empty()) {
            NodeId const at = open.back();
            open.pop_back();
            if (!read_node(at)) continue;
            tree_.add_children(at, codes_.types());
            open.push_back(tree_.nodes_[at].right);
            open.push_back(tree_.nodes_[at].left);
        }
    }

    // Returns whether it is a branch, whose children follow.
    bool read_node(NodeId at) {
        Node& node = tree_.nodes_[at];
        read_stats(node.stats);
        std::uint64_t const flags = in_.number(all_flags, "a flag");
        bool const branch = flags & flag_branch;
        if (flags & flag_next_look) node.next_look = in_.number(max_observations, "a count");
        read_edits(node, flags);
        NodeEdits const& edits = node.edits;
        bool const learns = branch ? branch_updates_ && !edits.hand_written : !edits.hand_written || !edits.pinned;
        bool const has_candidates = !codes_.types().empty() && learns;
        if ((in_.number(1, "a flag") != 0) != has_candidates)
            throw ModelFileError("the model file has a node with candidates where none belong, or without any");
        if (has_candidates) read_candidates(at);
        if (branch) read_test(node);
        return branch;
    }

    void read_stats(NodeStats& stats) {
        for (Count& total : stats.totals) {
            total = static_cast<Count>(in_.number(max_counted - stats.n, "a count"));
            stats.n += total;
        }
        stats.score_bound = std::numeric_limits<double>::infinity();
        stats.clusters.pairs = in_.number(stats.n / 2 * stats.n, "a number of pairs");
        stats.clusters.agreeing = in_.number(stats.clusters.pairs, "a number of pairs");
        stats.last_checked_loss = static_cast<Log>(in_.number(max_loss, "a surprise"));
    }

    void read_edits(Node& node, std::uint64_t flags) {
        NodeEdits& edits = node.edits;
        edits.pinned = flags & flag_pinned;
        edits.hand_written = flags & flag_hand_written;
        bool const leaf = !(flags & flag_branch);
        auto const read_counts = [&](std::vector<std::uint64_t>& counts) {
            std::uint64_t sum = 0;
            for (std::size_t y = 0; y < node.stats.totals.size(); ++y) {
                counts.push_back(in_.number(max_observations - sum, "a count"));
                sum += counts.back();
            }
            return sum;
        };
        if (flags & flag_prior) edits.prior_n = read_counts(edits.prior_counts);
        if (leaf && edits.pinned) (void)read_counts(edits.seen_since_pinned);
    }

    void read_candidates(NodeId at) {
        Node& node = tree_.nodes_[at];
        // Each block takes at least one byte, for its number of candidates.
        if (count_blocks(codes_.types(), node.variable_classes) > in_.left())
            throw ModelFileError("the model file ends in the middle of a node's candidates");
        tree_.count_candidates(at, codes_.types());
        BlockTable const& table = node.candidates.table();
        for (std::size_t b = 0; b < table.size(); ++b) {
            std::size_t const type = table[b].type;
            std::size_t const entries = in_.count("a number of candidates");
            Vector last;
            for (std::size_t e = 0; e < entries; ++e) {
                Vector value = read_value(codes_.types()[type]);
                if (e > 0 && !(last < value)) throw ModelFileError("the model file has candidates out of order");
                read_counters(node, node.candidates.find_or_make(b), codes_.admit(type, value));
                last = std::move(value);
            }
        }
    }

    // Facts with two terms can be said the other way round, with the negated value.
    Vector read_value(FactType const& type) {
        Vector value = in_.vector(type.value_length);
        if (!type.kind->possible(value)) throw ModelFileError("the model file has a fact that no state can have");
        return value;
    }

    void read_counters(Node& node, BlockCounters& block, Code code) {
        Counts const totals = node.stats.totals;
        std::uint64_t const birth = in_.number(std::numeric_limits<std::uint32_t>::max(), "a birth");
        if (birth == 0 || birth > tree_.transitions_)
            throw ModelFileError("the model file has a candidate from no known transition");
        BlockCounters::Column const column = block.add(code, static_cast<std::uint32_t>(birth), totals.size());
        block.fit_outcomes(totals.size());
        ++node.candidates.size;
        std::uint64_t times_true = 0;
        for (std::size_t y = 0; y < totals.size(); ++y) {
            auto const count = static_cast<Count>(in_.number(totals[y], "a count"));
            block.counts[y * block.stride + column] = count;
            times_true += count;
        }
        if (times_true == 0) throw ModelFileError("the model file has a candidate that was never true");
    }

    void read_test(Node& node) {
        auto const& types = codes_.types();
        if (node.depth >= max_depth || node.variable_classes.size() >= max_variables)
            throw ModelFileError(
                "the model file has a tree that is deeper or asks about more objects than is possible");
        if (types.empty()) throw ModelFileError("the model file has a test where no fact is possible");
        Test& test = node.test;
        test.type = static_cast<std::size_t>(in_.number(types.size() - 1, "a fact type"));
        for (std::uint32_t& variable : test.variables)
            variable = static_cast<std::uint32_t>(in_.number(node.variable_classes.size() + 1, "a variable"));
        test.value = read_value(types[test.type]);
        auto const block_of_test = find_block(types, node.variable_classes, test);
        if (!block_of_test) throw ModelFileError("the model file has a test about variables it cannot have");
        node.test_candidate.block = *block_of_test;
        if (!node.candidates.are_counted()) return;
        if (!types[test.type].counted) return read_uncounted_test(node);
        Code const code = codes_.find(test.type, test.value);
        BlockCounters const* const block = node.candidates.find(*block_of_test);
        if (code == no_code || block == nullptr || block->find_column(code) == BlockCounters::kNoColumn)
            throw ModelFileError("the model file has a test that is none of its node's candidates");
        node.test_candidate.code = code;
    }

    void read_uncounted_test(Node& node) {
        for (Count const total : node.stats.totals)
            node.uncounted_test.counts.push_back(static_cast<Count>(in_.number(total, "a count")));
        node.uncounted_test.description_length =
            length_of_uncounted_test(codes_.types(), node.variable_classes, node.test);
    }

    Tree& tree_;
    Reader& in_;
    Codes& codes_;
    bool branch_updates_;
    std::uint64_t seen_ = 0;  // observations of all outcomes
};

void load_tree(Reader& in, Tree& tree, Codes& codes, Criterion const& criterion, OutcomeLimits const& limits,
               bool branch_updates) {
    TreeReader(tree, in, codes, branch_updates).read(criterion, limits);
}

}  // namespace treethink
