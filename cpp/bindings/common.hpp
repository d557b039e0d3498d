// common.hpp - how values cross the border between Python and the engine.
//
// Reading is strict: an integer is an int or something that says it is one (NumPy's
// integers do); bool, float, str and None never are. Every refusal is an error of our
// own types that shows the value.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "core/state.hpp"

namespace treethink::bindings {

namespace nb = nanobind;

/// An argument of a type that the call cannot use at all.
struct WrongType : Error {
    using Error::Error;
};

enum class Reading { ok, not_an_integer, out_of_range, wrong_length, not_a_name, not_a_flag };

/// Python's repr of a value, for messages: shortened, and never failing.
std::string shown(nb::handle value);

/// Whether an object is a bool, of Python or of NumPy.
bool is_bool(PyObject* value);

/// UTF-8 text of a str, valid as long as the str lives. Throws WrongType that begins with
/// `demand`, such as "an action must be a str".
std::string_view text_of(nb::handle value, char const* demand);

/// Raises `error`, if there is one, and else `earlier`. If there are both, the other one is its context, as of a
/// Python exception that is raised while an earlier one is handled; an interrupt is never only a context.
void raise_errors(std::exception_ptr const& error, std::exception_ptr const& earlier);

/// A signed 64-bit integer, or the reason why it is none.
Reading read_integer(nb::handle value, Int& out);
/// An integer or a sequence of them. `length` 0: any but none.
Reading read_vector(nb::handle value, std::size_t length, Vector& out);
/// A value of an attribute: a name of its, a bool for a flag, else as `read_vector`. Integers are accepted for both.
Reading read_attribute(Attribute const& attribute, nb::handle value, Vector& out);
/// Throws StateError: `value` cannot be the attribute (of length 0: nothing but its name is known) of `owner`.
[[noreturn]] void refuse_value(Reading reason, std::string const& owner, Attribute const& attribute, nb::handle value);
/// Whether it is a bool of Python or NumPy.
bool is_bool(nb::handle value);
/// An object id. Throws StateError.
Int read_id(nb::handle value);

/// How a value looks in Python: an int when its length is 1, else a tuple of ints.
nb::object value_object(VectorView value);
/// How a value of an attribute looks: the name if it has names, a bool if it is a flag, else as above.
nb::object value_object(Attribute const& attribute, VectorView value);

/// The state in a Python object. Throws WrongType that begins with `demand`, such as
/// "before must be a State".
State const& state_of(nb::handle value, char const* demand);
/// The schema in a Python object, which stays alive with it. Throws WrongType.
std::shared_ptr<Schema const> schema_of(nb::handle value);

/// The action of that name. Throws WrongType or UnknownName.
ActionId action_of(Schema const& schema, nb::handle action);
/// The place of an object. Throws StateError when the state has no such object.
Place place_of(State const& state, Int id);
/// The column of an attribute of a class. Throws UnknownName.
SlotId slot_named(Schema const& schema, ClassId class_id, std::string_view attribute);
/// The same; the name may also be that of a sum (see Schema::columns).
SlotId column_named(Schema const& schema, ClassId class_id, std::string_view attribute);

}  // namespace treethink::bindings
