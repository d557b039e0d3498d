// schema.cpp - Schema as Python sees it.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <unordered_map>

#include "bindings/common.hpp"
#include "bindings/gil.hpp"

namespace treethink::bindings {

namespace {

using ClassEntry = std::pair<std::string, std::vector<std::string>>;
// name, length, facts, outcomes, like, names, kind, derived
using AttributeEntry = std::tuple<std::string, std::size_t, std::vector<std::string>, std::string, std::string,
                                  std::vector<std::string>, std::string, bool>;

OutcomeForm outcome_form(std::string const& name) {
    if (name == "auto") return OutcomeForm::automatic;
    if (name == "change") return OutcomeForm::change;
    if (name == "value") return OutcomeForm::value;
    throw UnknownName("form of outcomes", name, {"auto", "change", "value"}, "the engine");
}

std::vector<Class> read_classes(std::vector<ClassEntry> const& entries, std::vector<Attribute> const& attributes) {
    std::unordered_map<std::string, std::size_t> position;
    std::vector<std::string> known;
    for (auto const& each : attributes) {
        position.emplace(each.name, known.size());
        known.push_back(each.name);
    }
    std::vector<Class> classes;
    for (auto const& [name, own] : entries) {
        classes.push_back({name, {}});
        for (auto const& attribute : own) {
            auto const found = position.find(attribute);
            if (found == position.end()) throw UnknownName("attribute", attribute, known, "class '" + name + "'");
            classes.back().attributes.emplace_back(found->second);
        }
    }
    return classes;
}

void make_schema(Schema* self, std::vector<ClassEntry> const& classes, std::vector<AttributeEntry> const& attributes,
                 std::vector<std::string> const& actions) {
    std::vector<Attribute> read;
    for (auto const& [name, length, facts, outcomes, like, names, kind, derived] : attributes)
        read.push_back({name, length, facts, outcome_form(outcomes), like, names, kind, derived});
    auto read_own = read_classes(classes, read);
    new (self) Schema(std::move(read_own), std::move(read), actions);
}

/// Calls `_derive` of the Python object of the state's schema. Search predicts without the GIL. That object is looked
/// up and not kept: it has the functions, and they may lead back to it.
class PythonDerivation final : public Derivation {
public:
    [[nodiscard]] State apply(State const& state) const override {
        AcquireGil const acquire;
        return nb::cast<State>(nb::cast(state.schema()).attr("_derive")(state));
    }
};

void compute(Schema& schema, std::vector<std::string> const& names) {
    std::vector<AttributeId> computed;
    for (auto const& name : names) computed.push_back(schema.attribute_named(name));
    schema.compute_by(std::make_shared<PythonDerivation>(), computed);
}

nb::list sums_of_attributes(Schema const& schema) {
    nb::list sums;
    for (std::size_t a = schema.attributes().size(); a < schema.attributes_of_columns(); ++a) {
        Attribute const& sum = schema.attribute(AttributeId(a));
        if (!schema.compares_sum(AttributeId(a))) continue;
        auto const& [place, step] = *sum.sum_of;
        sums.append(nb::make_tuple(sum.name, schema.attribute(AttributeId(place)).name,
                                   schema.attribute(AttributeId(step)).name));
    }
    return sums;
}

}  // namespace

void bind_schema(nb::module_& module) {
    module.attr("longest_vector") = max_vector_length;
    nb::class_<Schema>(module, "Schema", "The engine's side of treethink.Schema.")
        .def("__init__", &make_schema, nb::arg("classes"), nb::arg("attributes"), nb::arg("actions"))
        .def("_compute", &compute, nb::arg("names"),
             "Let `_derive`, which takes a state and returns it with these attributes computed, make every state.")
        .def("_leave_out_sums", &Schema::leave_out_sums,
             "Let facts be about no sums. Only before states or models use the schema.")
        .def("_sums_of_attributes", &sums_of_attributes,
             "Return the sums that facts can be about: (name, place, step), each the name of an attribute.")
        .def("fits", &Schema::fits, nb::arg("other"),
             "Return whether states of the two schemas are the same. `facts`, `outcomes` and `like` may differ: they "
             "say how a model learns.")
        .def(
            "__eq__", [](Schema const& a, Schema const& b) { return a == b; }, nb::is_operator(),
            nb::sig("def __eq__(self, other: object, /) -> bool"));
}

}  // namespace treethink::bindings
