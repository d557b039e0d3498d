// trees.cpp - a single tree as Python sees it, and what it shares with models.
#include "bindings/trees.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "foldt.hpp"
#include "learning/criterion.hpp"
#include "learning/fixed_point_log.hpp"

namespace treethink::bindings {

namespace {

nb::tuple tuple_of(VectorView value) {
    nb::list list;
    for (Int const each : value) list.append(each);
    return nb::tuple(list);
}

/// attribute 'a', or attributes 'a' and 'b'
std::string listed(std::vector<std::string> const& attributes) {
    bool const two = attributes.size() == 2 && attributes[0] != attributes[1];
    std::string const first = attributes.empty() ? "" : attributes[0];
    return two ? "attributes '" + first + "' and '" + attributes[1] + "'" : "attribute '" + first + "'";
}

/// Those of its terms; then that of any other object, if a fact is about one.
std::vector<std::string> attributes_of(Schema const& schema, FactType const& type) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < type.terms; ++k) names.push_back(schema.attribute(type.attributes[k]).name);
    if (type.of_any) names.push_back(schema.attribute(type.unit).name);
    return names;
}

/// The value of a test; where it is about a component, that one's number comes before.
Vector shown_value(FactType const& type, Vector value) {
    if (type.component) value.insert(value.begin(), Int{*type.component});
    return value;
}

/// (kind, attributes, classes, variables, value)
nb::tuple test_tuple(Schema const& schema, std::vector<FactType> const& types, Test const& test) {
    FactType const& type = types[test.type];
    nb::list attributes, classes, variables;
    for (auto const& name : attributes_of(schema, type)) attributes.append(name);
    for (std::size_t k = 0; k < type.arity; ++k) {
        classes.append(schema.classes()[type.classes[k]].name);
        variables.append(test.variables[k]);
    }
    auto const kind = type.kind->name();
    return nb::make_tuple(nb::str(kind.data(), kind.size()), nb::tuple(attributes), nb::tuple(classes),
                          nb::tuple(variables), tuple_of(shown_value(type, test.value)));
}

/// None: the value stays; (): all outcomes that are not told apart.
nb::object outcome_object(TreeSnapshot const& tree, std::size_t y, std::optional<FeedbackKind> kind) {
    Vector const& outcome = tree.outcomes[y];
    if (outcome.empty()) return y == tree.others ? nb::object(nb::tuple()) : nb::none();
    return kind ? nb::make_tuple(feedback_object(*kind, outcome[0])) : tuple_of(outcome);
}

template <class Numbers>
nb::dict counts_dict(TreeSnapshot const& tree, Numbers const& counts, std::optional<FeedbackKind> kind) {
    nb::dict dict;
    for (std::size_t y = 0; y < counts.size(); ++y)
        if (counts[y] > 0) dict[outcome_object(tree, y, kind)] = counts[y];
    return dict;
}

/// (kind, class of the source if it is another object's, attribute of the source, whether it adds)
nb::tuple frame_tuple(Schema const& schema, Frame const& frame, SlotId slot) {
    if (!frame.source) return nb::make_tuple(frame.adds ? "change" : "value", nb::none(), nb::none(), false);
    auto const& [class_id, attribute] = schema.column(*frame.source);
    auto const& name = schema.attribute(attribute).name;
    bool const own = class_id == schema.column(slot).class_id;
    nb::object const of = own ? nb::none() : nb::cast(schema.classes()[class_id].name);
    return nb::make_tuple(frame.jumps ? "jump" : own ? "own" : "copy", of, name, frame.adds && !frame.jumps);
}

Vector read_outcome(nb::handle outcome, std::optional<FeedbackKind> kind) {
    if (outcome.is_none()) return {};
    if (!kind) return nb::cast<Vector>(outcome);
    auto const values = nb::cast<std::vector<nb::object>>(outcome);
    if (values.size() != 1)
        throw RuleError("an outcome must be of length 1, got one of length " + std::to_string(values.size()));
    return {read_feedback_outcome(*kind, values[0])};
}

nb::object index_or_none(std::optional<std::size_t> index) { return index ? nb::object(nb::int_(*index)) : nb::none(); }

}  // namespace

FactsMode facts_mode(nb::handle mode) {
    std::string_view const name = text_of(mode, "facts must be a str");
    if (name == "demand") return FactsMode::demand;
    if (name == "full") return FactsMode::full;
    throw UnknownName("way to find facts", std::string(name), {"demand", "full"}, "predict");
}

BindingsMode bindings_mode(nb::handle mode) {
    std::string_view const name = text_of(mode, "bindings must be a str");
    if (name == "first") return BindingsMode::first;
    if (name == "all") return BindingsMode::all;
    throw UnknownName("way to keep bindings", std::string(name), {"first", "all"}, "predict");
}

nb::tuple rule_tuple(Schema const& schema, TreeSnapshot const& tree, SlotId slot, std::optional<FeedbackKind> kind) {
    nb::tuple const parts = tree_tuple(schema, tree, kind);
    nb::object const frame = kind ? nb::none() : nb::object(frame_tuple(schema, tree.frame, slot));
    return nb::make_tuple(parts[0], parts[1], parts[2], frame);
}

nb::tuple tree_tuple(Schema const& schema, TreeSnapshot const& tree, std::optional<FeedbackKind> kind) {
    auto const types = fact_types(schema);
    nb::list nodes;
    for (auto const& node : tree.nodes) {
        nb::list classes;
        for (ClassId const c : node.variable_classes) classes.append(schema.classes()[c].name);
        nb::object const test = node.test ? nb::object(test_tuple(schema, types, *node.test)) : nb::none();
        nodes.append(nb::make_tuple(index_or_none(node.left), index_or_none(node.right), nb::tuple(classes),
                                    counts_dict(tree, node.counts, kind), test,
                                    nb::make_tuple(node.pinned, node.hand_written, node.has_prior),
                                    counts_dict(tree, node.seen_since_pinned, kind)));
    }
    return nb::make_tuple(tree.transitions, counts_dict(tree, tree.seen, kind), nodes);
}

nb::list candidates_list(Schema const& schema, TreeSnapshot const& tree, std::optional<FeedbackKind> kind) {
    auto const types = fact_types(schema);
    nb::list all;
    for (auto const& node : tree.nodes) {
        nb::dict candidates;
        for (auto const& candidate : node.candidates)
            candidates[test_tuple(schema, types, candidate.test)] = counts_dict(tree, candidate.counts, kind);
        all.append(candidates);
    }
    return all;
}

std::vector<HandWrittenNode> written_nodes(Schema const& schema, nb::handle nodes,
                                           std::optional<FeedbackKind> kind_of_outcomes) {
    using Outcomes = std::vector<std::pair<nb::object, std::uint64_t>>;
    using Names = std::vector<std::string>;
    using Told = std::tuple<std::string, Names, Names, std::vector<std::uint32_t>, Vector>;
    auto const types = fact_types(schema);
    std::vector<HandWrittenNode> written;
    for (nb::handle const node : nodes) {
        auto const [test, outcomes] = nb::cast<std::pair<std::optional<Told>, Outcomes>>(node);
        written.emplace_back();
        for (auto const& [outcome, n] : outcomes)
            written.back().outcomes.emplace_back(read_outcome(outcome, kind_of_outcomes), n);
        if (!test) continue;
        auto const& [kind, attributes, classes, variables, value] = *test;
        auto const asks_so = [&, &kind = kind, &attributes = attributes, &classes = classes,
                              &value = value](FactType const& type) {
            bool same = type.kind->name() == kind && type.arity == classes.size();
            same = same && attributes_of(schema, type) == attributes;
            if (type.component) same = same && value.size() > type.value_length && value[0] == Int{*type.component};
            for (std::size_t k = 0; same && k < type.arity; ++k)
                same = schema.classes()[type.classes[k]].name == classes[k];
            return same;
        };
        auto const type = std::find_if(types.begin(), types.end(), asks_so);
        if (type == types.end() || variables.size() != classes.size())
            throw RuleError("there are no facts of the kind '" + kind + "' about the " + listed(attributes) +
                            " of those objects");
        auto const start = value.begin() + (type->component ? 1 : 0);
        Test read{static_cast<std::size_t>(type - types.begin()), {}, Vector(start, value.end())};
        std::copy(variables.begin(), variables.end(), read.variables.begin());
        written.back().test = std::move(read);
    }
    return written;
}

nb::tuple event_tuple(Schema const& schema, std::vector<FactType> const& types, Event const& event) {
    char const* const kind = event.kind == Decision::split    ? "split"
                             : event.kind == Decision::change ? "change"
                             : event.kind == Decision::revert ? "return"
                             : event.kind == Decision::noise  ? "noise"
                                                              : "frame";
    nb::object const test = event.test ? nb::object(test_tuple(schema, types, *event.test)) : nb::none();
    return nb::make_tuple(kind, event.path, test, event.variables);
}

namespace {

std::vector<Row> rows_of(State const& state, Schema const& schema, std::vector<ClassId> const& classes,
                         std::vector<Int> const& ids) {
    if (ids.size() != classes.size())
        throw StateError("the tree takes " + std::to_string(classes.size()) + " objects, got " +
                         std::to_string(ids.size()));
    std::vector<Row> rows;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        Place const place = place_of(state, ids[i]);
        if (place.class_id != classes[i])
            throw StateError("argument " + std::to_string(i) + " must be of class '" +
                             schema.classes()[classes[i]].name + "', object " + std::to_string(ids[i]) +
                             " is of class '" + schema.classes()[place.class_id].name + "'");
        for (std::size_t j = 0; j < i; ++j)
            if (ids[j] == ids[i]) throw StateError("object " + std::to_string(ids[i]) + " is given twice");
        rows.push_back(place.row);
    }
    return rows;
}

State const& foldt_state(Foldt const& self, nb::handle object) {
    State const& state = state_of(object, "facts must be of a State");
    if (!state.schema()->fits(self.schema())) throw StateError("the state is of another schema than those before");
    return state;
}

TreeSnapshot foldt_snapshot(Foldt const& self, bool with_candidates) {
    nb::gil_scoped_release const release;
    return self.snapshot(with_candidates);
}

void bind_foldt(nb::module_& module) {
    nb::class_<Foldt>(module, "Foldt", "One first-order logical decision tree. See treethink.FOLDT.")
        .def("__init__",
             [](Foldt* self, nb::handle schema_object, std::vector<std::string> const& classes, double alpha,
                std::string criterion, bool branch_updates, std::uint64_t max_candidates, std::uint64_t max_outcomes) {
                 auto const schema = schema_of(schema_object);
                 std::vector<ClassId> arguments;
                 for (auto const& name : classes) arguments.push_back(schema->class_named(name));
                 Settings settings{alpha, std::move(criterion), branch_updates, max_candidates, max_outcomes,
                                   0,     default_max_counters};
                 new (self) Foldt(schema, std::move(arguments), std::move(settings));
             })
        .def("observe",
             [](Foldt& self, nb::handle object, std::vector<Int> const& ids, Int outcome) {
                 State const& state = foldt_state(self, object);
                 auto const rows = rows_of(state, self.schema(), self.arguments(), ids);
                 nb::gil_scoped_release const release;
                 (void)self.observe(state, rows, {outcome});
             })
        .def("predict",
             [](Foldt const& self, nb::handle object, std::vector<Int> const& ids, nb::handle facts,
                nb::handle bindings) {
                 State const& state = foldt_state(self, object);
                 auto const rows = rows_of(state, self.schema(), self.arguments(), ids);
                 FactsMode const facts_how = facts_mode(facts);
                 BindingsMode const bindings_how = bindings_mode(bindings);
                 std::vector<std::pair<Vector, std::uint64_t>> answer;
                 {
                     nb::gil_scoped_release const release;
                     answer = self.predict(state, rows, facts_how, bindings_how);
                 }
                 nb::list all;
                 for (auto const& [outcome, n] : answer) all.append(nb::make_tuple(outcome.front(), n));
                 return all;
             })
        .def("_save",
             [](Foldt const& self) {
                 std::vector<std::uint8_t> bytes;
                 {
                     nb::gil_scoped_release const release;
                     bytes = self.save();
                 }
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("_load",
             [](Foldt& self, nb::bytes const& bytes) {
                 nb::gil_scoped_release const release;
                 self.load({static_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
             })
        .def("_tree", [](Foldt const& self) { return tree_tuple(self.schema(), foldt_snapshot(self, false)); })
        .def("_candidates",
             [](Foldt const& self) { return candidates_list(self.schema(), foldt_snapshot(self, true)); });
}

FactKind const& kind_named(std::string const& name) {
    for (auto const& kind : fact_kinds())
        if (kind->name() == name) return *kind;
    throw UnknownName("kind of fact", name, {}, "the engine");
}

std::string formula(std::string const& name, std::string const& x, std::string const& y, Vector value, bool swap) {
    FactKind const& kind = kind_named(name);
    if (swap) kind.swap(value.data(), value.size());
    std::string text;
    for (Int const each : value) text += (text.empty() ? "" : ", ") + std::to_string(each);
    if (value.size() != 1) text = std::string("(") + text + ")";
    return swap ? kind.text(y, x, text) : kind.text(x, y, text);
}

#ifdef TREETHINK_TESTING
/// Scores of two tests (the second time as one of a batch), their exact order, what is to be beaten where the second
/// is in place and free of charge, and whether the first beats it.
auto judged(std::string const& name, double alpha, std::vector<Count> const& a, std::vector<Count> const& b,
            std::vector<Count> const& totals, std::uint64_t copies) {
    auto const criterion = make_criterion(name, alpha);
    Sample const sample{totals, copies};
    std::vector<Count> both;
    for (std::size_t y = 0; y < totals.size(); ++y) both.insert(both.end(), {a[y], b[y]});
    std::vector<double> scores;
    criterion->scores(both.data(), 2, 2, sample, scores);
    std::uint64_t n = 0;
    for (Count const each : totals) n += each;
    auto const order = criterion->compare(a, b, sample);
    double const first = criterion->score(a, sample), second = criterion->score(b, sample);
    double const threshold = criterion->threshold(b, sample, second);
    return std::tuple(first, second, scores,
                      order < 0   ? -1
                      : order > 0 ? 1
                                  : 0,
                      threshold, criterion->surely_better(first, threshold, n));
}

/// Pairs, agreeing pairs and copies after these transitions, each given by the outcomes of its targets.
auto together(std::vector<std::vector<std::uint32_t>> const& transitions, std::size_t outcomes) {
    ClusterStats clusters;
    std::vector<Count> totals(outcomes, 0);
    std::uint64_t n = 0;
    for (std::size_t t = 0; t < transitions.size(); ++t)
        for (std::uint32_t const outcome : transitions[t]) {
            clusters.add(t + 1, outcome, outcomes);
            ++totals.at(outcome);
            ++n;
        }
    return std::tuple(clusters.pairs, clusters.agreeing, clusters.design_effect(totals, n));
}
#endif

}  // namespace

void bind_trees(nb::module_& module) {
    bind_foldt(module);
    module.def(
        "fact_kinds",
        [] {
            nb::list names;
            for (auto const& kind : fact_kinds()) names.append(nb::str(kind->name().data(), kind->name().size()));
            return nb::tuple(names);
        },
        "Names of the kinds of fact, in the engine's order.");
    module.def(
        "kind_fits",
        [](std::string const& kind, std::size_t length, bool symbolic) {
            Attribute attribute;
            attribute.length = length;
            if (symbolic) attribute.kind = "flag";
            return kind_named(kind).fits(attribute);
        },
        nb::arg("kind"), nb::arg("length"), nb::arg("symbolic"),
        "Return whether attributes of that length, whose values are names or bools if `symbolic`, can take part.");
    module.def("criterion_names", &criterion_names, "Names of the learning criteria.");
    module.def("formula", &formula, nb::arg("kind"), nb::arg("x"), nb::arg("y"), nb::arg("value"), nb::arg("swap"),
               "A fact about `x` and `y` written out; `swap` says it the other way round.");
#ifdef TREETHINK_TESTING
    module.def("log_of", &log_of, "Only in builds for testing: ln x in units of 1/65536 nat.");
    module.def(
        "log_step_product", [](std::uint64_t k, std::uint64_t n) { return LogTables::get().step_product(k, n); },
        "Only in builds for testing: ln(k (k + 2) (k + 4) ...).");
    module.def(
        "log_power", [](std::uint64_t n) { return LogTables::get().power(n); }, "Only in builds for testing: n ln n.");
    module.def("two_sided_quantile", &two_sided_quantile, "Only in builds for testing: z for an alpha.");
    module.def("judged", &judged, nb::arg("criterion"), nb::arg("alpha"), nb::arg("a"), nb::arg("b"), nb::arg("totals"),
               nb::arg("copies") = 1, "Only in builds for testing: how a criterion judges two tests.");
    module.def("together", &together, nb::arg("transitions"), nb::arg("outcomes"),
               "Only in builds for testing: the design effect of targets that share a transition.");
#endif
}

}  // namespace treethink::bindings
