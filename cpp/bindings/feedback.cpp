// feedback.cpp - see feedback.hpp.
#include "bindings/feedback.hpp"

#include <cmath>

namespace treethink::bindings {

namespace {

// Text, arrays and lists are no numbers, even if Python could convert them.
bool is_number(nb::handle value) {
    return !is_bool(value.ptr()) && PyNumber_Check(value.ptr()) != 0 && PyComplex_Check(value.ptr()) == 0 &&
           PySequence_Check(value.ptr()) == 0;
}

double read_reward(nb::handle value) {
    if (!PyFloat_Check(value.ptr()) && !is_number(value))
        throw WrongType("reward must be a number, got " + shown(value));
    double const reward = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0 && PyErr_ExceptionMatches(PyExc_TypeError) == 0)
            nb::raise_python_error();
        PyErr_Clear();
        throw TransitionError("reward must be a finite number, got " + shown(value));
    }
    if (!std::isfinite(reward)) throw TransitionError("reward must be a finite number, got " + shown(value));
    return reward;
}

bool read_end(nb::handle value) {
    if (!is_bool(value.ptr())) throw WrongType("terminated must be True, False or None, got " + shown(value));
    int const truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) nb::raise_python_error();
    return truth != 0;
}

}  // namespace

std::string feedback_name(FeedbackKind kind) { return kind == FeedbackKind::reward ? "reward" : "terminated"; }

FeedbackKind feedback_named(std::string_view name) {
    for (FeedbackKind const kind : {FeedbackKind::reward, FeedbackKind::terminated})
        if (name == feedback_name(kind)) return kind;
    throw UnknownName("attribute", std::string(name), {"reward", "terminated"}, "the rules of transitions");
}

Feedback read_feedback(Schema const& schema, nb::handle reward, nb::handle terminated) {
    Feedback feedback;
    if (!reward.is_none()) feedback.reward = read_reward(reward);
    if (!terminated.is_none()) feedback.terminated = read_end(terminated);
    if (feedback.empty()) return feedback;
    for (Class const& each : schema.classes())
        if (each.name == feedback_class)
            throw SchemaError(
                "rules of rewards and ends are called 'transition', and so is a class of the schema: "
                "give the class another name");
    return feedback;
}

nb::object feedback_object(FeedbackKind kind, Int outcome) {
    if (kind == FeedbackKind::reward) return nb::float_(reward_of_outcome(outcome));
    return nb::bool_(outcome != 0);
}

Int read_feedback_outcome(FeedbackKind kind, nb::handle value) {
    return kind == FeedbackKind::reward ? outcome_of_reward(read_reward(value)) : Int{read_end(value)};
}

}  // namespace treethink::bindings
