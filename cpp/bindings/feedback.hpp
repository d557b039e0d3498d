// feedback.hpp - rewards and ends of transitions as Python gives and gets them, and what their rules are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bindings/common.hpp"
#include "core/feedback.hpp"

namespace treethink::bindings {

/// In the names of rules it stands where others have a class; so no class can be called that.
inline constexpr std::string_view feedback_class = "transition";

/// "reward" or "terminated".
[[nodiscard]] std::string feedback_name(FeedbackKind kind);
/// The kind of that name. Throws UnknownName.
[[nodiscard]] FeedbackKind feedback_named(std::string_view name);

/// A reward and an end; None: not known. Throws WrongType or TransitionError, or SchemaError if the schema has a class
/// that is called like the rules.
[[nodiscard]] Feedback read_feedback(Schema const& schema, nb::handle reward, nb::handle terminated);

/// An outcome of a rule about feedback: a float, or a bool.
[[nodiscard]] nb::object feedback_object(FeedbackKind kind, Int outcome);
/// The outcome in a Python object. Throws WrongType or TransitionError.
[[nodiscard]] Int read_feedback_outcome(FeedbackKind kind, nb::handle value);

}  // namespace treethink::bindings
