#include "foldt.hpp"

#include <string>

#include "serialize.hpp"

namespace treethink {

Foldt::Foldt(std::shared_ptr<Schema const> schema, std::vector<ClassId> arguments, Settings settings)
    : schema_(std::move(schema)), settings_(std::move(settings)),
      criterion_(make_criterion(settings_.criterion, settings_.alpha)), codes_(schema_),
      tree_(std::move(arguments), std::make_shared<BlockTables>()) {
    std::size_t const n = tree_.arguments().size();
    if (n < 1 || n > max_arguments)
        throw SettingError("a tree takes 1 to " + std::to_string(max_arguments) + " arguments, got " +
                           std::to_string(n));
}

std::vector<Event> Foldt::observe(State const& state, std::vector<Row> const& arguments, Vector outcome) {
    auto const lock = lock_.for_writing();
    return lock_.guard("learned observation", tree_.transitions() + 1,
                       [&] { return learn(state, arguments, std::move(outcome)); });
}

std::vector<Event> Foldt::learn(State const& state, std::vector<Row> const& arguments, Vector outcome) {
    std::span<Tree> const trees(&tree_, 1);
    recode(trees, codes_, codes_.set_state(state));
    std::vector<Event> events;
    LearningContext learning{codes_, *criterion_, settings_, scratch_, state, events, 1};
    if (!tree_.outcomes().find_or_others(outcome)) tree_.add_outcomes(learning, {outcome});
    Tree::Target const target{arguments, *tree_.outcomes().find_or_others(outcome)};
    tree_.observe(learning, {&target, 1});
    collect_codes(trees, codes_);
    return events;
}

std::vector<std::pair<Vector, std::uint64_t>> Foldt::predict(State const& state, std::vector<Row> const& arguments,
                                                             FactsMode facts, BindingsMode bindings) const {
    auto const lock = lock_.for_reading();
    auto const& types = codes_.types();
    NodeId leaf = kRoot;
    if (tree_.varies())
        leaf = facts == FactsMode::full ? tree_.route(FactsInFull(state, types), types, arguments, bindings)
                                        : tree_.route(FactsOnDemand(state), types, arguments, bindings);
    NodeId const node = tree_.answering_node(leaf);
    std::vector<std::pair<Vector, std::uint64_t>> answer;
    if (tree_.is_mostly_others(leaf) || tree_.is_mostly_others(node)) return answer;
    for (std::size_t y = 0; y < tree_.outcomes().size(); ++y)
        if (std::uint64_t const n = tree_.answer_count(node, y); n > 0)
            answer.emplace_back(tree_.outcomes().values()[y], n);
    return answer;
}

std::vector<std::uint8_t> Foldt::save() const {
    auto const lock = lock_.for_reading();
    Writer out;
    save_tree(out, tree_, codes_);
    return out.take();
}

void Foldt::load(std::span<std::uint8_t const> bytes) {
    auto const lock = lock_.for_writing();
    Reader in(bytes);
    Codes codes(schema_);
    Tree tree = tree_;
    load_tree(in, tree, codes, *criterion_, {1, {}, {}}, settings_.branch_updates);
    if (!in.at_end()) throw ModelFileError("the tree has bytes left over");
    codes_ = std::move(codes);
    tree_ = std::move(tree);
}

}  // namespace treethink
