#include "serialize.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "learning/counting.hpp"
#include "learning/selection.hpp"
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

std::uint64_t Reader::number(std::uint64_t most, char const* what) {
    std::uint64_t const value = number();
    if (value > most)
        throw ModelFileError("the model file has " + std::string(what) + " " + std::to_string(value) + ", at most " +
                             std::to_string(most) + " is possible");
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
// tree        transitions, outcomes (each: vector, times seen), whether it varies; if so:
//             how many candidates were forgotten, nodes in preorder
// node        count of each outcome, pairs of targets that met, how many agreed, how much there was to explain at
//             the last look, its flags, if so: what it was given and has met by outcome; whether it has
//             candidates, those, its test
// candidates  for each block: how many, then each by value: value, birth, times true by outcome
// test        fact type, variables, value

namespace {

constexpr std::uint64_t is_branch = 1, is_pinned = 2, is_written = 4, is_given = 8;  // flags of a node
constexpr std::uint64_t most_surprise = std::uint64_t{1} << 56;  // 2^32 outcomes, each of less than 2^24 units

struct Entry {
    Vector value;
    Code code;
};

std::vector<Entry> sorted_entries(Codes const& codes, Block const& block) {
    std::vector<Entry> entries;
    for (Code code = 0; code < block.stride; ++code)
        if (block.births[code] != 0) entries.push_back({codes.value(block.type, code), code});
    std::sort(entries.begin(), entries.end(), [](Entry const& a, Entry const& b) { return a.value < b.value; });
    return entries;
}

void save_candidates(Writer& out, Codes const& codes, Node const& node) {
    std::vector<Count> counts;
    for (Block const& block : node.blocks) {
        auto const entries = sorted_entries(codes, block);
        out.number(entries.size());
        for (Entry const& entry : entries) {
            out.vector(entry.value);
            out.number(block.births[entry.code]);
            read_counts(block, entry.code, node.totals, counts);
            for (Count const count : counts) out.number(count);
        }
    }
}

void save_test(Writer& out, Node const& node) {
    out.number(node.test.type);
    for (std::uint32_t const variable : node.test.variables) out.number(variable);
    out.vector(node.test.value);
}

}  // namespace

void Tree::save(Writer& out, Codes const& codes) const {
    out.number(now_);
    out.number(outcomes_.size());
    for (std::size_t y = 0; y < outcomes_.size(); ++y) {
        out.vector(outcomes_[y]);
        out.number(seen_[y]);
    }
    out.number(varies());
    if (!varies()) return;
    out.number(forgotten_);
    for (std::uint32_t const at : preorder()) {
        Node const& node = nodes_[at];
        for (Count const count : node.totals) out.number(count);
        out.number(node.together.pairs);
        out.number(node.together.agreeing);
        out.number(static_cast<std::uint64_t>(node.looked_at));
        out.number((node.is_leaf() ? 0 : is_branch) | (node.pinned ? is_pinned : 0) | (node.written ? is_written : 0) |
                   (node.given.empty() ? 0 : is_given));
        for (std::uint64_t const count : node.given) out.number(count);
        if (node.pinned && node.is_leaf())
            for (std::uint64_t const count : node.met) out.number(count);
        out.number(!node.blocks.empty());
        if (!node.blocks.empty()) save_candidates(out, codes, node);
        if (!node.is_leaf()) save_test(out, node);
    }
}

/// Reads one tree; what it has read so far is always consistent with what it reads next.
class TreeLoader {
public:
    TreeLoader(Tree& tree, Reader& in, Codes& codes, bool branch_updates)
        : tree_(tree), in_(in), codes_(codes), branch_updates_(branch_updates) {}

    std::vector<Recoding> load(std::size_t outcome_length) {
        tree_.now_ = in_.number(most_seen, "a number of transitions");
        std::size_t const outcomes = in_.count("a number of outcomes");
        std::uint64_t seen = 0;
        for (std::size_t y = 0; y < outcomes; ++y) {
            Vector outcome = in_.vector(outcome_length);
            if (tree_.find_outcome(outcome)) throw ModelFileError("the model file has an outcome twice");
            tree_.outcomes_.push_back(std::move(outcome));
            tree_.seen_.push_back(in_.number(most_seen - seen, "a count"));
            seen += tree_.seen_.back();
        }
        bool const varies = in_.number(1, "a flag") != 0;
        if (varies) load_nodes();
        for (std::size_t y = 0; y < outcomes; ++y)
            if (tree_.seen_[y] == 0 && !named_only(y))
                throw ModelFileError("the model file has an outcome that was never seen");
        if (varies && !tree_.nodes_[0].given.empty() && tree_.nodes_[0].is_empty())
            throw ModelFileError("the model file has a rule that says nothing");
        bool const given = varies && tree_.nodes_[0].given_n > 0;
        bool const agree = (varies ? seen > 0 : outcomes < 2) && (seen == 0) == (tree_.now_ == 0);
        if (!given && !agree)
            throw ModelFileError("the model file has a rule whose outcomes and transitions do not agree");
        tree_.find_held();
        return std::move(recodings_);
    }

private:
    void load_nodes() {
        tree_.forgotten_ = in_.number();
        std::vector<std::uint32_t> open{tree_.add_node(0, tree_.arguments_)};
        while (!open.empty()) {
            std::uint32_t const at = open.back();
            open.pop_back();
            load_totals(tree_.nodes_[at]);
            std::uint64_t const flags = in_.number(is_branch | is_pinned | is_written | is_given, "a flag");
            bool const branch = flags & is_branch;
            load_edits(tree_.nodes_[at], flags);
            Node const& node = tree_.nodes_[at];
            bool const counts =
                !codes_.types().empty() && (branch ? branch_updates_ && !node.written : !node.written || !node.pinned);
            if ((in_.number(1, "a flag") != 0) != counts)
                throw ModelFileError("the model file has a node with candidates where none belong, or without any");
            if (counts) load_candidates(at);
            if (!branch) continue;
            load_test(at);
            tree_.add_children(at, codes_.types());
            open.push_back(tree_.nodes_[at].right);
            open.push_back(tree_.nodes_[at].left);
        }
    }

    // People name outcomes that were never seen. Those nobody has counted.
    bool named_only(std::size_t outcome) const {
        auto const& nodes = tree_.nodes_;
        return !nodes.empty() &&
               std::all_of(nodes.begin(), nodes.end(), [&](Node const& node) { return node.totals[outcome] == 0; });
    }

    void load_totals(Node& node) {
        std::uint64_t const most = std::numeric_limits<Count>::max();
        for (Count& total : node.totals) {
            total = static_cast<Count>(in_.number(most - node.n, "a count"));
            node.n += total;
        }
        node.bound = std::numeric_limits<double>::infinity();
        node.together.pairs = in_.number(node.n / 2 * node.n, "a number of pairs");
        node.together.agreeing = in_.number(node.together.pairs, "a number of pairs");
        node.looked_at = static_cast<Log>(in_.number(most_surprise, "a surprise"));
    }

    void load_edits(Node& node, std::uint64_t flags) {
        node.pinned = flags & is_pinned;
        node.written = flags & is_written;
        bool const leaf = !(flags & is_branch);
        auto const load = [&](std::vector<std::uint64_t>& counts) {
            std::uint64_t sum = 0;
            for (std::size_t y = 0; y < node.totals.size(); ++y) {
                counts.push_back(in_.number(most_seen - sum, "a count"));
                sum += counts.back();
            }
            return sum;
        };
        if (flags & is_given) node.given_n = load(node.given);
        if (leaf && node.pinned) (void)load(node.met);
    }

    void load_candidates(std::uint32_t at) {
        tree_.nodes_[at].blocks = make_blocks(codes_.types(), tree_.nodes_[at].classes);
        std::size_t const blocks = tree_.nodes_[at].blocks.size();
        for (std::size_t b = 0; b < blocks; ++b) {
            std::size_t const type = tree_.nodes_[at].blocks[b].type;
            std::size_t const entries = in_.count("a number of candidates");
            Vector last;
            for (std::size_t e = 0; e < entries; ++e) {
                Vector value = load_value(codes_.types()[type]);
                if (e > 0 && !(last < value)) throw ModelFileError("the model file has candidates out of order");
                load_counts(at, b, admit(type, value));
                last = std::move(value);
            }
        }
    }

    // Facts about two objects can be said the other way round, with the negated value.
    Vector load_value(FactType const& type) {
        Vector value = in_.vector(type.value_length);
        if (type.arity == 2 && std::count(value.begin(), value.end(), std::numeric_limits<Int>::min()) > 0)
            throw ModelFileError("the model file has a fact whose negation does not fit 64 bits");
        return value;
    }

    Code admit(std::size_t type, VectorView value) {
        for (Recoding& recoding : codes_.admit(type, value)) {
            tree_.recode(codes_, recoding);
            recodings_.push_back(std::move(recoding));
        }
        return codes_.find(type, value);
    }

    void load_counts(std::uint32_t at, std::size_t b, Code code) {
        Node& node = tree_.nodes_[at];
        Block& block = node.blocks[b];
        fit_block(block, codes_, node.totals.size());
        std::uint64_t const birth = in_.number(std::numeric_limits<std::uint32_t>::max(), "a birth");
        if (birth == 0 || birth > tree_.now_)
            throw ModelFileError("the model file has a candidate from no known transition");
        block.births[code] = static_cast<std::uint32_t>(birth);
        ++node.candidates;
        std::uint64_t times = 0;
        for (std::size_t y = 0; y < node.totals.size(); ++y) {
            auto const count = static_cast<Count>(in_.number(node.totals[y], "a count"));
            block.counts[y * block.stride + code] = count;
            times += count;
        }
        if (times == 0) throw ModelFileError("the model file has a candidate that was never true");
    }

    void load_test(std::uint32_t at) {
        Node& node = tree_.nodes_[at];
        auto const& types = codes_.types();
        if (node.depth >= deepest || node.classes.size() >= most_variables)
            throw ModelFileError(
                "the model file has a tree that is deeper or asks about more objects than is possible");
        if (types.empty()) throw ModelFileError("the model file has a test where no fact is possible");
        node.test.type = static_cast<std::size_t>(in_.number(types.size() - 1, "a fact type"));
        FactType const& type = types[node.test.type];
        for (std::uint32_t& variable : node.test.variables)
            variable = static_cast<std::uint32_t>(in_.number(node.classes.size() + 1, "a variable"));
        node.test.value = load_value(type);
        auto const block_of_test = find_block(types, node.classes, node.test);
        if (!block_of_test) throw ModelFileError("the model file has a test about variables it cannot have");
        node.test_block = *block_of_test;
        if (node.blocks.empty()) return;
        node.test_code = codes_.find(node.test.type, node.test.value);
        Block const& block = node.blocks[node.test_block];
        if (node.test_code == no_code || node.test_code >= block.stride || block.births[node.test_code] == 0)
            throw ModelFileError("the model file has a test that is none of its node's candidates");
    }

    Tree& tree_;
    Reader& in_;
    Codes& codes_;
    bool branch_updates_;
    std::vector<Recoding> recodings_;
};

std::vector<Recoding> Tree::load(Reader& in, Codes& codes, std::size_t outcome_length, bool branch_updates) {
    return TreeLoader(*this, in, codes, branch_updates).load(outcome_length);
}

}  // namespace treethink
