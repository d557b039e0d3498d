// qora.cpp - QORA as Python sees it. As with models, the GIL is released in every call that learns,
// predicts, saves or loads.
#include "qora/qora.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/common.hpp"
#include "bindings/feedback.hpp"

namespace treethink::bindings {

namespace {

using qora::CaseTable;
using qora::Condition;
using qora::Predicate;
using qora::PredicateId;
using qora::Predicates;
using qora::Predictor;

void observe(Qora& self, nb::handle before_object, nb::handle action_name, nb::handle after_object, nb::handle reward,
             nb::handle terminated) {
    State const& before = state_of(before_object, "before must be a State");
    ActionId const action = action_of(*self.schema(), action_name);
    State const& after = state_of(after_object, "after must be a State");
    (void)read_feedback(*self.schema(), reward, terminated);
    nb::gil_scoped_release const release;
    self.observe(before, action, after);
}

Prediction predict(Qora const& self, nb::handle state_object, nb::handle action_name) {
    State const& state = state_of(state_object, "state must be a State");
    ActionId const action = action_of(*self.schema(), action_name);
    nb::gil_scoped_release const release;
    return self.predict(state, action);
}

// ---- all that a predictor knows, as plain Python data, for comparison with its twin in the tests ----

/// (class or None for the target, attribute, whether it is a difference, value) for each predicate.
nb::list condition_list(Schema const& schema, Predicates const& predicates, Condition condition) {
    nb::list all;
    for (PredicateId const p : condition) {
        Predicate const& each = predicates[p];
        nb::object name = nb::none();
        if (each.group != qora::target_alone) name = nb::cast(schema.classes()[qora::class_of(each.group)].name);
        auto const& attribute = schema.attributes()[each.attribute].name;
        all.append(nb::make_tuple(name, attribute, each.relative, value_object(each.value)));
    }
    return all;
}

/// (case, counts by effect), where a case is a number or, of a wide table, the words of its key.
nb::list table_list(CaseTable const& table) {
    nb::list all;
    for (std::size_t at = 0; at < table.cases(); ++at) {
        nb::object key = table.wide() ? nb::cast(table.wide_key(at)) : nb::cast(table.key(at));
        auto const counts = table.counts(at);
        all.append(nb::make_tuple(key, std::vector<std::uint64_t>(counts.begin(), counts.end())));
    }
    return all;
}

nb::object dump(Qora const& self, nb::handle class_name, nb::handle attribute, nb::handle action) {
    Schema const& schema = *self.schema();
    ClassId const c = schema.class_named(text_of(class_name, "a class name must be a str"));
    SlotId const slot = slot_named(schema, c, text_of(attribute, "an attribute name must be a str"));
    nb::object found = nb::none();
    self.with_predictor(slot, action_of(schema, action), [&](Predictor const* predictor, Predicates const& predicates) {
        if (predictor == nullptr) return;
        nb::list effects, hypotheses, working;
        for (Vector const& effect : predictor->effects()) effects.append(value_object(effect));
        auto const add = [&](nb::list& to, std::uint32_t at) {
            to.append(nb::make_tuple(condition_list(schema, predicates, predictor->condition(at)),
                                     table_list(predictor->counted(at).table)));
        };
        for (std::uint32_t const at : predictor->hypotheses()) add(hypotheses, at);
        for (std::uint32_t const at : predictor->candidates()) add(working, at);
        found = nb::make_tuple(effects, table_list(predictor->baseline()), hypotheses, working);
    });
    return found;
}

}  // namespace

void bind_qora(nb::module_& module) {
    nb::class_<Qora>(module, "Qora", "The predecessor of TreeThink. See treethink.baselines.Qora.")
        .def(
            "__init__",
            [](Qora* self, nb::handle schema, double alpha, std::uint64_t max_bytes) {
                new (self) Qora(schema_of(schema), alpha, max_bytes);
            },
            nb::arg("schema").none(), nb::arg("alpha"), nb::arg("max_bytes"))
        .def("observe", &observe,
             nb::sig("def observe(self, before: State, action: str, after: State, reward: float | None = None, "
                     "terminated: bool | None = None) -> None"),
             nb::arg("before").none(), nb::arg("action").none(), nb::arg("after").none(),
             nb::arg("reward").none() = nb::none(), nb::arg("terminated").none() = nb::none(),
             "Learn one transition; its reward and whether it ended the episode are ignored.")
        .def("predict", &predict, nb::sig("def predict(self, state: State, action: str) -> Prediction"),
             nb::arg("state").none(), nb::arg("action").none(), "The distribution over next states.")
        .def_prop_ro(
            "schema", [](Qora const& self) { return self.schema(); },
            nb::for_getter(nb::sig("def schema(self) -> FullSchema")))
        .def_prop_ro("alpha", &Qora::alpha)
        .def_prop_ro("max_bytes", &Qora::max_bytes)
        .def_prop_ro(
            "observations",
            [](Qora const& self) {
                nb::gil_scoped_release const release;
                return self.observations();
            },
            "How many transitions have been learned.")
        .def("_size",
             [](Qora const& self) {
                 nb::gil_scoped_release const release;
                 qora::MemoryUse const use = self.memory_use();
                 return std::tuple(use.bytes, use.hypotheses, use.candidates, use.conditions);
             })
        .def("_save",
             [](Qora const& self) {
                 std::vector<std::uint8_t> bytes;
                 {
                     nb::gil_scoped_release const release;
                     bytes = self.save();
                 }
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("_load",
             [](Qora& self, nb::bytes const& bytes) {
                 nb::gil_scoped_release const release;
                 self.load({static_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
             })
        .def("_dump", &dump, nb::arg("class_name").none(), nb::arg("attribute").none(), nb::arg("action").none());
}

}  // namespace treethink::bindings
