// prediction.cpp - predictions as Python sees them.
#include "inference/prediction.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings/common.hpp"
#include "bindings/feedback.hpp"

namespace treethink::bindings {

namespace {

std::pair<Place, SlotId> attribute_of(Prediction const& self, nb::handle id, nb::handle attribute) {
    Schema const& schema = *self.state().schema();
    Place const place = place_of(self.state(), read_id(id));
    SlotId const slot = slot_named(schema, place.class_id, text_of(attribute, "an attribute name must be a str"));
    if (!schema.attribute(slot).derived) return {place, slot};
    throw StateError("attribute '" + schema.attribute(slot).name + "' of class '" +
                     schema.classes()[place.class_id].name +
                     "' is derived: it is not predicted, but computed from the predicted state, as in `mode()`");
}

nb::dict outcomes_dict(Attribute const& attribute, std::vector<Prediction::Outcome> const& outcomes) {
    std::uint64_t total = 0;
    for (auto const& outcome : outcomes) total += outcome.count;
    nb::dict dict;
    for (auto const& outcome : outcomes)
        dict[value_object(attribute, outcome.value)] = static_cast<double>(outcome.count) / static_cast<double>(total);
    return dict;
}

nb::dict outcomes(Prediction const& self, nb::handle id, nb::handle attribute) {
    auto const [place, slot] = attribute_of(self, id, attribute);
    auto const possible = self.outcomes(slot, place.row);
    auto const& meaning = self.state().schema()->attribute(slot);
    if (!possible.empty()) return outcomes_dict(meaning, possible);
    nb::dict still;
    still[value_object(meaning, self.state().value(slot, place.row))] = 1.0;
    return still;
}

nb::dict changes(Prediction const& self) {
    nb::dict all;
    State const& state = self.state();
    Schema const& schema = *state.schema();
    self.each([&](SlotId slot, Row row, std::vector<Prediction::Outcome> const& possible) {
        if (possible.size() == 1 && same(possible.front().value, state.value(slot, row))) return;
        auto const& place = schema.slots()[slot];
        auto const id = nb::int_(state.roster()->id({place.class_id, row}));
        if (!all.contains(id)) all[id] = nb::dict();
        all[id][schema.attributes()[place.attribute].name.c_str()] = outcomes_dict(schema.attribute(slot), possible);
    });
    return all;
}

nb::object rewards(Prediction const& self) {
    auto const& outcomes = self.feedback(FeedbackKind::reward);
    if (outcomes.empty()) return nb::none();
    double total = 0;
    for (auto const& [outcome, count] : outcomes) total += static_cast<double>(count);
    nb::dict dict;
    for (auto const& [outcome, count] : outcomes)
        dict[feedback_object(FeedbackKind::reward, outcome)] = static_cast<double>(count) / total;
    return dict;
}

/// Observations behind the answer about the reward or the end; 0: nothing is known.
std::uint64_t feedback_support(Prediction const& self, nb::handle name) {
    std::uint64_t total = 0;
    FeedbackKind const kind = feedback_named(text_of(name, "'reward' or 'terminated' must be a str"));
    for (auto const& [outcome, count] : self.feedback(kind)) total += count;
    return total;
}

double probability(Prediction const& self, nb::handle after_object) {
    State const& after = state_of(after_object, "after must be a State");
    State const& state = self.state();
    if (!state.schema()->fits(*after.schema())) throw StateError("the state is of another schema than the prediction");
    if (*state.roster() != *after.roster()) return 0;
    return self.probability(after);
}

/// A generator as it is; a new one for a seed, or for None.
nb::object generator_of(nb::handle rng) {
    Int seed = 0;
    bool const is_seed = read_integer(rng, seed) == Reading::ok && seed >= 0;
    if (rng.is_none() || is_seed) return nb::module_::import_("numpy.random").attr("default_rng")(rng);
    if (nb::hasattr(rng, "random")) return nb::borrow(rng);
    throw WrongType("rng must be a numpy.random.Generator, a seed (an integer that is not negative) or None, got " +
                    shown(rng));
}

State sample(Prediction const& self, nb::handle rng_or_seed) {
    nb::object const rng = generator_of(rng_or_seed);
    std::size_t const n = self.choices();
    std::vector<double> random;
    for (std::size_t i = 0; i < n; ++i) {
        nb::object const drawn = rng.attr("random")();
        double number = -1;
        if (!nb::try_cast(drawn, number) || !(number >= 0 && number < 1))
            throw WrongType("rng.random() must give numbers from 0 up to 1, got " + shown(drawn));
        random.push_back(number);
    }
    return self.sample(random);
}

/// None, ("rule",), ("leaf",), or ("value", kind of fact, ((object id, attribute), ...), value).
nb::object novelty(Prediction const& self, nb::handle id, nb::handle attribute) {
    auto const [place, slot] = attribute_of(self, id, attribute);
    std::optional<Novelty> found;
    {
        nb::gil_scoped_release const release;
        found = self.novelty(slot, place.row);
    }
    if (!found) return nb::none();
    if (found->kind == Novelty::Kind::rule) return nb::make_tuple("rule");
    if (found->kind == Novelty::Kind::leaf) return nb::make_tuple("leaf");
    State const& state = self.state();
    Schema const& schema = *state.schema();
    nb::list objects;
    for (auto const& [where, row] : found->objects) {
        auto const& each = schema.slots()[where];
        objects.append(
            nb::make_tuple(state.roster()->id({each.class_id, row}), schema.attributes()[each.attribute].name));
    }
    bool const named = found->objects.size() == 1;  // a value of the attribute itself, and no difference
    nb::object const value =
        named ? value_object(schema.attribute(found->objects.front().first), found->value) : value_object(found->value);
    return nb::make_tuple("value", found->fact, nb::tuple(objects), value);
}

std::string shown_prediction(Prediction const& self) {
    std::size_t changing = 0, attributes = 0;
    for (auto const& column : self.state().columns()) attributes += column->rows();
    self.each([&](SlotId slot, Row row, std::vector<Prediction::Outcome> const& possible) {
        changing += possible.size() > 1 || !same(possible.front().value, self.state().value(slot, row));
    });
    return "<Prediction: " + std::to_string(changing) + " of " + std::to_string(attributes) + " attributes may change>";
}

}  // namespace

void bind_prediction(nb::module_& module) {
    nb::class_<Prediction>(module, "Prediction",
                           "A distribution over next states: independent ones for each object and attribute.")
        .def("__repr__", &shown_prediction)
        .def_prop_ro("state", &Prediction::state, nb::rv_policy::copy, "The state that was asked about.")
        .def("mode", &Prediction::mode, "The most probable next state.")
        .def("sample", &sample, nb::sig("def sample(self, rng: numpy.random.Generator | int | None = None) -> State"),
             nb::arg("rng").none() = nb::none(),
             "One next state, drawn with a numpy Generator, with a seed, or with a fresh generator.")
        .def("probability", &probability, nb::sig("def probability(self, after: State) -> float"),
             nb::arg("after").none(), "Probability of a next state.")
        .def("outcomes", &outcomes,
             nb::sig("def outcomes(self, object_id: int, attribute: str) -> dict[PlainValue, float]"),
             nb::arg("object_id").none(), nb::arg("attribute").none(),
             "Possible new values of one attribute, with their probabilities.")
        .def(
            "support",
            [](Prediction const& self, nb::handle id, nb::handle attribute) {
                auto const [place, slot] = attribute_of(self, id, attribute);
                return self.support(slot, place.row);
            },
            nb::sig("def support(self, object_id: int, attribute: str) -> int"), nb::arg("object_id").none(),
            nb::arg("attribute").none(),
            "Observations behind the leaf that answers; 0: never seen.\n\n"
            "They need not be of this situation: a leaf answers for every state that reaches it, also for one with a\n"
            "value that was never seen. `novel` tells.")
        .def(
            "novel",
            [](Prediction const& self, nb::handle id, nb::handle attribute) {
                return !novelty(self, id, attribute).is_none();
            },
            nb::sig("def novel(self, object_id: int, attribute: str) -> bool"), nb::arg("object_id").none(),
            nb::arg("attribute").none(),
            "Whether the answer rests on a value or a situation that was never seen.\n\n"
            "That is so if its rule or its leaf has no observations, or if a test on the path asks about an\n"
            "attribute of a certain object and the value that holds now never held there. Orders,\n"
            "thresholds and something answer for values beyond those seen: that is what they say, so no value\n"
            "is novel to them. It is computed when it is asked for, from the model as it is then.")
        .def("_novelty", &novelty, nb::arg("object_id").none(), nb::arg("attribute").none(),
             "What was never seen: None, ('rule',), ('leaf',) or ('value', kind, ((id, attribute), ...), value).")
        .def(
            "reward", [](Prediction const& self) { return self.expected(FeedbackKind::reward); },
            nb::sig("def reward(self) -> float | None"),
            "The expected reward of the transition; None: no reward of the action is known.")
        .def("rewards", &rewards, nb::sig("def rewards(self) -> dict[float, float] | None"),
             "Possible rewards of the transition, with their probabilities; None: none is known.")
        .def(
            "terminated", [](Prediction const& self) { return self.expected(FeedbackKind::terminated); },
            nb::sig("def terminated(self) -> float | None"),
            "Probability that the transition ends the episode; None: no end of the action is known.")
        .def("_feedback_support", &feedback_support, nb::sig("def _feedback_support(self, name: str) -> int"),
             nb::arg("name"), "Observations behind the answer about 'reward' or 'terminated'; 0: never seen.")
        .def("changes", &changes, nb::sig("def changes(self) -> dict[int, dict[str, dict[PlainValue, float]]]"),
             "{object id: {attribute: {value: probability}}} of all that may not stay as it is.\n\n"
             "The shape is that of `State.changes_to`, with probabilities of values in place of values.");
}

}  // namespace treethink::bindings
