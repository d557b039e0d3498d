// model.cpp - models as Python sees them.
//
// The GIL is released in every call that takes the model's lock, and that lock is never held while
// Python code runs, so the two cannot wait for each other, and nobody who waits stops the others.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <chrono>

#include "bindings/feedback.hpp"
#include "bindings/py_model.hpp"
#include "bindings/signals.hpp"
#include "bindings/streams.hpp"
#include "bindings/trees.hpp"
#include "model.hpp"

namespace treethink::bindings {

namespace {

/// A model with its Python callback.
struct PyModel {
    PyModel(std::shared_ptr<Schema const> schema, Settings settings)
        : shared(std::make_shared<Model>(std::move(schema), std::move(settings))), model(*shared),
          on_change(nb::none()) {}

    std::shared_ptr<Model> shared;  // with its predictions
    Model& model;
    nb::object on_change;
};

Prediction predict_one(PyModel const& self, State const& state, ActionId action, FactsMode facts,
                       BindingsMode bindings) {
    Prediction prediction = self.model.predict(state, action, facts, bindings);
    prediction.set_source(self.shared, action);
    return prediction;
}

// ------------------------------------------------------------ model

/// Class and attribute of a rule.
std::pair<std::string, std::string> names_of(Model const& model, SlotId slot) {
    if (auto const kind = model.feedback_kind(slot)) return {std::string(feedback_class), feedback_name(*kind)};
    Schema const& schema = *model.schema();
    auto const& [class_id, attribute] = schema.slots()[slot];
    return {schema.classes()[class_id].name, schema.attributes()[attribute].name};
}

// A rule warns once: only the first outcome that is not told apart is an event.
void warn_of_noise(PyModel const& self, ModelEvent const& event) {
    auto const [class_name, attribute] = names_of(self.model, event.slot);
    std::string const& action = self.model.schema()->actions()[event.action];
    std::string const rule = self.model.feedback_kind(event.slot) ? attribute : class_name + "." + attribute;
    std::string const text = rule + " when " + action + " looks like noise: it has had " +
                             std::to_string(self.model.settings().max_outcomes) +
                             " different outcomes, and new ones are no longer told apart (max_outcomes)";
    nb::object const type = nb::module_::import_("treethink.errors").attr("NoiseWarning");
    // Warnings are printed to terminals as they are.
    nb::object const printable = nb::module_::import_("treethink.text").attr("printable")(text);
    if (PyErr_WarnFormat(type.ptr(), 1, "%U", printable.ptr()) < 0) nb::raise_python_error();
}

void report(PyModel& self, std::vector<ModelEvent> const& events) {
    for (ModelEvent const& each : events)
        if (each.event.kind == Decision::noise) warn_of_noise(self, each);
    if (events.empty() || self.on_change.is_none()) return;
    Schema const& schema = *self.model.schema();
    auto const types = fact_types(schema);
    for (ModelEvent const& each : events) {
        nb::object const hook = self.on_change;  // a hook may replace itself, or switch itself off
        if (hook.is_none()) return;
        auto const [class_name, attribute] = names_of(self.model, each.slot);
        hook(class_name, attribute, schema.actions()[each.action], event_tuple(schema, types, each.event),
             each.observation);
    }
}

void observe(PyModel& self, nb::handle before_object, nb::handle action_name, nb::handle after_object,
             nb::handle reward, nb::handle terminated) {
    State const& before = state_of(before_object, "before must be a State");
    ActionId const action = action_of(*self.model.schema(), action_name);
    State const& after = state_of(after_object, "after must be a State");
    Feedback const feedback = read_feedback(*self.model.schema(), reward, terminated);
    std::vector<ModelEvent> events;
    {
        nb::gil_scoped_release const release;
        events = self.model.observe(before, action, after, feedback);
    }
    report(self, events);
}

/// Learns items that were read ahead, all of them: the first error, be it of an item, a callback or a signal, is
/// stored in `error`, and what comes after it is learned without callbacks and signals.
std::uint64_t observe_items(PyModel& self, std::vector<Transition> const& items, SignalWatch& watch,
                            std::exception_ptr& error) {
    nb::gil_scoped_release const release;
    std::uint64_t observed = 0;
    for (Transition const& each : items) try {
            auto const events = self.model.observe(each.before, each.action, each.after, each.feedback);
            ++observed;
            if (error) continue;
            watch.look();
            if (events.empty()) continue;
            AcquireGil const acquire;
            report(self, events);
        } catch (...) {
            if (!error) error = std::current_exception();
        }
    return observed;
}

std::uint64_t observe_many(PyModel& self, nb::handle transitions) {
    auto const next = [&](nb::handle item) {
        Transition transition = transition_of(*self.model.schema(), item);
        self.model.check(transition.before, transition.after);  // refused here, nothing is read after it
        return transition;
    };
    nb::object const iterator =
        iterator_over(transitions, "transitions must be an iterable of (before, action, after)");
    std::uint64_t observed = 0;
    Pace pace;
    SignalWatch watch;
    for (;;) {
        std::size_t const wanted = pace.chunk();
        std::exception_ptr error_of_item, error;
        auto const items = next_items<Transition>(iterator, wanted, next, error_of_item);
        auto const start = Clock::now();
        observed += observe_items(self, items, watch, error);
        raise_errors(error, error_of_item);
        if (items.size() < wanted) return observed;
        pace.took(Clock::now() - start);
    }
}

Prediction predict(PyModel const& self, nb::handle state_object, nb::handle action_name, nb::handle facts,
                   nb::handle bindings) {
    State const& state = state_of(state_object, "state must be a State");
    ActionId const action = action_of(*self.model.schema(), action_name);
    FactsMode const facts_how = facts_mode(facts);
    BindingsMode const bindings_how = bindings_mode(bindings);
    nb::gil_scoped_release const release;
    return predict_one(self, state, action, facts_how, bindings_how);
}

nb::list predict_many(PyModel const& self, nb::handle situations, nb::handle facts, nb::handle bindings) {
    Schema const& schema = *self.model.schema();
    FactsMode const facts_how = facts_mode(facts);
    BindingsMode const bindings_how = bindings_mode(bindings);
    nb::object const iterator = iterator_over(situations, "situations must be an iterable of (state, action)");
    nb::list all;
    Pace pace;
    SignalWatch watch;
    for (std::exception_ptr error;;) {
        std::size_t const wanted = pace.chunk();
        auto const items = next_items<std::pair<State, ActionId>>(
            iterator, wanted, [&](nb::handle item) { return situation_of(schema, item); }, error);
        if (error) std::rethrow_exception(error);
        std::vector<Prediction> predictions;
        auto const start = Clock::now();
        {
            nb::gil_scoped_release const release;
            for (auto const& [state, action] : items) {
                predictions.push_back(predict_one(self, state, action, facts_how, bindings_how));
                watch.look();
            }
        }
        for (Prediction& prediction : predictions) all.append(nb::cast(std::move(prediction)));
        if (items.size() < wanted) return all;
        pace.took(Clock::now() - start);
    }
}

/// Which rule is meant.
std::pair<SlotId, ActionId> rule_named(PyModel const& self, nb::handle class_name, nb::handle attribute,
                                       nb::handle action) {
    Schema const& schema = *self.model.schema();
    std::string_view const name = text_of(class_name, "a class name must be a str");
    std::string_view const attribute_name = text_of(attribute, "an attribute name must be a str");
    auto const has_that_name = [&](Class const& each) { return each.name == name; };
    bool const is_class = std::any_of(schema.classes().begin(), schema.classes().end(), has_that_name);
    if (name == feedback_class && !is_class)
        return {self.model.feedback_slot(feedback_named(attribute_name)), action_of(schema, action)};
    SlotId const slot = slot_named(schema, schema.class_named(name), attribute_name);
    if (schema.attribute(slot).derived)
        throw RuleError("attribute '" + schema.attribute(slot).name +
                        "' is derived: it is computed from the rest of the state, and has no rules");
    return {slot, action_of(schema, action)};
}

nb::tuple kept_tuple(Schema const& schema, KeptTransition& kept) {
    std::string const& action = schema.actions()[kept.action];
    if (kept.feedback.empty()) return nb::make_tuple(std::move(kept.before), action, std::move(kept.after));
    auto const& [reward, terminated] = kept.feedback;
    return nb::make_tuple(std::move(kept.before), action, std::move(kept.after), reward, terminated);
}

/// A copy of a rule, and what kind of feedback it is about, if it is.
std::pair<TreeSnapshot, std::optional<FeedbackKind>> snapshot(PyModel const& self, nb::handle class_name,
                                                              nb::handle attribute, nb::handle action,
                                                              bool with_candidates) {
    auto const [slot, action_id] = rule_named(self, class_name, attribute, action);
    nb::gil_scoped_release const release;
    return {self.model.snapshot(slot, action_id, with_candidates), self.model.feedback_kind(slot)};
}

/// An edit of the part of a rule that is found at `path`.
template <class... More>
auto edit(void (Model::*change)(SlotId, ActionId, std::string_view, More...)) {
    return [change](PyModel& self, nb::handle c, nb::handle m, nb::handle a, std::string const& path, More... more) {
        auto const [slot, action] = rule_named(self, c, m, a);
        nb::gil_scoped_release const release;
        (self.model.*change)(slot, action, path, more...);
    };
}

void replace(PyModel& self, nb::handle c, nb::handle m, nb::handle a, std::string const& path, nb::handle nodes) {
    auto const [slot, action] = rule_named(self, c, m, a);
    std::vector<HandWrittenNode> const written =
        written_nodes(*self.model.schema(), nodes, self.model.feedback_kind(slot));
    nb::gil_scoped_release const release;
    self.model.replace(slot, action, path, written);
}

std::vector<std::int64_t> time_observe(PyModel& self, nb::handle transitions) {
    std::vector<Transition> items;
    for (nb::handle const item : transitions) items.push_back(transition_of(*self.model.schema(), item));
    std::vector<std::int64_t> nanoseconds;
    nb::gil_scoped_release const release;
    for (Transition const& each : items) {
        auto const start = Clock::now();
        (void)self.model.observe(each.before, each.action, each.after, each.feedback);
        nanoseconds.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    }
    return nanoseconds;
}

std::vector<std::int64_t> time_predict(PyModel const& self, nb::handle situations, nb::handle facts,
                                       nb::handle bindings) {
    FactsMode const facts_how = facts_mode(facts);
    BindingsMode const bindings_how = bindings_mode(bindings);
    std::vector<std::pair<State, ActionId>> items;
    for (nb::handle const item : situations) items.push_back(situation_of(*self.model.schema(), item));
    std::vector<std::int64_t> nanoseconds;
    nb::gil_scoped_release const release;
    for (auto const& [state, action] : items) {
        auto const start = Clock::now();
        State const mode = self.model.predict(state, action, facts_how, bindings_how).mode();
        nanoseconds.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
        if (mode.columns().empty()) nanoseconds.back() = 0;  // uses the result
    }
    return nanoseconds;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    Py_VISIT(nb::inst_ptr<PyModel>(self)->on_change.ptr());
    return 0;
}

int clear(PyObject* self) {
    nb::inst_ptr<PyModel>(self)->on_change = nb::none();
    return 0;
}

PyType_Slot const model_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

// Constructing, observing and predicting.
void bind_learning(nb::class_<PyModel>& type) {
    type.def(
            "__init__",
            [](PyModel* self, nb::handle schema, double alpha, std::string criterion, bool branch_updates,
               std::uint64_t max_candidates, std::uint64_t max_outcomes, std::uint64_t memory,
               std::uint64_t max_counters) {
                Settings settings{alpha,  std::move(criterion), branch_updates, max_candidates, max_outcomes,
                                  memory, max_counters};
                new (self) PyModel(schema_of(schema), std::move(settings));
            },
            nb::arg("schema").none(), nb::arg("alpha"), nb::arg("criterion"), nb::arg("branch_updates"),
            nb::arg("max_candidates"), nb::arg("max_outcomes"), nb::arg("memory"),
            nb::arg("max_counters") = default_max_counters)
        .def("observe", &observe,
             nb::sig("def observe(self, before: State, action: str, after: State, reward: float | None = None, "
                     "terminated: bool | None = None) -> None"),
             nb::arg("before").none(), nb::arg("action").none(), nb::arg("after").none(),
             nb::arg("reward").none() = nb::none(), nb::arg("terminated").none() = nb::none(),
             "Learn one transition, its reward and whether it ended the episode; None: not known.")
        .def("observe_many", &observe_many,
             nb::sig("def observe_many(self, transitions: collections.abc.Iterable[tuple[object, ...]]) -> int"),
             nb::arg("transitions").none(),
             "Learn an iterable of transitions; return how many there were.\n\n"
             "A transition is a `Transition`, or a tuple of (before, action, after). The result is that of\n"
             "as many calls of `observe`. If an item is refused, those before it are learned, and those\n"
             "after it are not read. Up to 256 items are read ahead of being learned, so an iterable that\n"
             "queries this model sees it as it was then. None of them is lost: after Ctrl-C or an error of\n"
             "`on_change`, the items that were read are learned, without further calls of `on_change`,\n"
             "before the exception is raised.")
        .def("predict", &predict,
             nb::sig("def predict(self, state: State, action: str, **ablation: str) -> Prediction"),
             nb::arg("state").none(), nb::arg("action").none(), nb::arg("facts").none() = "demand",
             nb::arg("bindings").none() = "first",
             "Return the distribution over next states.\n\n"
             "`ablation` is for the paper's ablation only: ``facts=`` (``\"demand\"`` or ``\"full\"``) and\n"
             "``bindings=`` (``\"first\"`` or ``\"all\"``) choose how the trees are evaluated. All four\n"
             "combinations give the same prediction; the defaults are the fastest.")
        .def("predict_many", &predict_many,
             nb::sig("def predict_many(self, situations: collections.abc.Iterable[tuple[State, str]], "
                     "**ablation: str) -> list[Prediction]"),
             nb::arg("situations").none(), nb::arg("facts").none() = "demand", nb::arg("bindings").none() = "first",
             "Return the predictions for an iterable of (state, action).\n\n"
             "`ablation` is that of `predict`. Up to 256 items are read ahead. After Ctrl-C or an error\n"
             "there are no predictions, but the items that were read are taken from an iterator.");
}

// Settings and state of a model.
void bind_properties(nb::class_<PyModel>& type) {
    type.def_prop_ro(
            "schema", [](PyModel const& self) { return self.model.schema(); },
            nb::for_getter(nb::sig("def schema(self) -> FullSchema")))
        .def_prop_ro("alpha", [](PyModel const& self) { return self.model.settings().alpha; })
        .def_prop_ro("criterion", [](PyModel const& self) { return self.model.settings().criterion; })
        .def_prop_ro("branch_updates", [](PyModel const& self) { return self.model.settings().branch_updates; })
        .def_prop_ro("memory", [](PyModel const& self) { return self.model.settings().memory; })
        .def_prop_ro("max_candidates", [](PyModel const& self) { return self.model.settings().max_candidates; })
        .def_prop_ro("max_outcomes", [](PyModel const& self) { return self.model.settings().max_outcomes; })
        .def_prop_ro(
            "observations",
            [](PyModel const& self) {
                nb::gil_scoped_release const release;
                return self.model.observations();
            },
            "Number of transitions that were learned.")
        .def(
            "_feedback",
            [](PyModel const& self) {
                nb::gil_scoped_release const release;
                return std::pair(self.model.learns_feedback(FeedbackKind::reward),
                                 self.model.learns_feedback(FeedbackKind::terminated));
            },
            "Whether rewards were learned, and whether ends were.")
        .def_prop_rw(
            "_hook", [](PyModel const& self) { return self.on_change; },
            [](PyModel& self, nb::object hook) { self.on_change = std::move(hook); }, nb::arg("hook").none());
}

// Reading and editing rules.
void bind_rules(nb::class_<PyModel>& type) {
    type.def(
            "_tree",
            [](PyModel const& self, nb::handle c, nb::handle m, nb::handle a) {
                SlotId const slot = rule_named(self, c, m, a).first;
                auto const [tree, kind] = snapshot(self, c, m, a, false);
                return rule_tuple(*self.model.schema(), tree, slot, kind);
            },
            nb::arg("class_name").none(), nb::arg("attribute").none(), nb::arg("action").none())
        .def(
            "_candidates",
            [](PyModel const& self, nb::handle c, nb::handle m, nb::handle a) {
                auto const [tree, kind] = snapshot(self, c, m, a, true);
                return candidates_list(*self.model.schema(), tree, kind);
            },
            nb::arg("class_name").none(), nb::arg("attribute").none(), nb::arg("action").none())
        .def("_replace", &replace, nb::arg("class_name").none(), nb::arg("attribute").none(), nb::arg("action").none(),
             nb::arg("path"), nb::arg("nodes"),
             "Replace the nodes at and below `path` by these, in preorder: (test or None, [(outcome, times seen)]).")
        .def("_pin", edit(&Model::pin))
        .def("_unpin", edit(&Model::unpin))
        .def("_keep_child", edit(&Model::keep_child),
             "Replace the branch at `path` by its left or right child; `merge` adds the counts of the other child.");
}

// Memory, files and timing.
void bind_storage(nb::class_<PyModel>& type) {
    type.def_prop_ro("_edits",
                     [](PyModel const& self) {
                         nb::gil_scoped_release const release;
                         return self.model.edits();
                     })
        .def(
            "_kept",
            [](PyModel const& self) {
                std::vector<KeptTransition> kept;
                {
                    nb::gil_scoped_release const release;
                    kept = self.model.kept();
                }
                nb::list all;
                for (KeptTransition& each : kept) all.append(kept_tuple(*self.model.schema(), each));
                return all;
            },
            "The transitions in memory, oldest first: (before, action, after), and the reward and the end if known.")
        .def("_size",
             [](PyModel const& self) {
                 nb::gil_scoped_release const release;
                 ModelSize const size = self.model.size();
                 return std::tuple(size.bytes, size.nodes, size.candidates, size.forgotten, size.kept, size.varying);
             })
        .def(
            "_save",
            [](PyModel const& self, bool with_memory) {
                SavedModel saved;
                {
                    nb::gil_scoped_release const release;
                    saved = self.model.save(with_memory);
                }
                return nb::make_tuple(nb::bytes(saved.bytes.data(), saved.bytes.size()), saved.with_feedback);
            },
            nb::arg("with_memory"), "The body of a model file, and whether the model has learned rewards or ends.")
        .def("_load",
             [](PyModel& self, nb::bytes const& bytes, bool with_feedback) {
                 nb::gil_scoped_release const release;
                 self.model.load({static_cast<std::uint8_t const*>(bytes.data()), bytes.size()}, with_feedback);
             })
        .def("_time_observe", &time_observe, "Nanoseconds of each observation, by the engine's own clock.")
        .def("_time_predict", &time_predict, nb::arg("situations").none(), nb::arg("facts").none() = "demand",
             nb::arg("bindings").none() = "first");
}

}  // namespace

Model const* model_in(nb::handle object) {
    return nb::isinstance<PyModel>(object) ? &nb::inst_ptr<PyModel>(object)->model : nullptr;
}

void bind_model(nb::module_& module) {
    nb::class_<PyModel> type(module, "Model", nb::type_slots(model_slots),
                             "All rules of a world, learned from transitions. See treethink.TreeThink.");
    bind_learning(type);
    bind_properties(type);
    bind_rules(type);
    bind_storage(type);
}

}  // namespace treethink::bindings
