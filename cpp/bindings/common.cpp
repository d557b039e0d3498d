// common.cpp - see common.hpp.
#include "bindings/common.hpp"

#include <algorithm>

namespace treethink::bindings {

namespace {

// Also right for what UTF-8 cannot write (lone surrogates): those come out escaped.
std::string escaped_text(PyObject* text) {
    auto const bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
    if (!bytes.is_valid()) nb::raise_python_error();
    return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

std::string shortened(std::string text) {
    constexpr std::size_t longest = 80;
    if (text.size() <= longest) return text;
    std::size_t cut = longest - 3;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;  // whole characters only
    return text.substr(0, cut) + "...";
}

Reading read_int_object(PyObject* value, Int& out) {
    int overflow = 0;
    out = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 ? Reading::ok : Reading::out_of_range;
}

// Text and raw bytes are sequences too, but never vectors.
bool is_sequence(PyObject* value) {
    return PySequence_Check(value) != 0 && PyUnicode_Check(value) == 0 && PyBytes_Check(value) == 0 &&
           PyByteArray_Check(value) == 0;
}

Reading read_items(PyObject* sequence, Py_ssize_t size, Vector& out) {
    out.resize(static_cast<std::size_t>(size));
    for (Py_ssize_t k = 0; k < size; ++k) {
        // Own the item: reading another may run code that changes a list.
        auto const item = nb::steal(PySequence_GetItem(sequence, k));
        if (!item.is_valid()) nb::raise_python_error();
        auto const reading = read_integer(item, out[static_cast<std::size_t>(k)]);
        if (reading != Reading::ok) return reading;
    }
    return Reading::ok;
}

std::string expected(std::size_t length) {
    if (length == 0) return "an integer or a sequence of integers";
    if (length == 1) return "an integer";
    return std::to_string(length) + " integers";
}

Reading read_name(std::vector<std::string> const& names, nb::handle value, Vector& out) {
    Py_ssize_t size = 0;
    char const* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (text == nullptr) PyErr_Clear();  // a lone surrogate, which no name has
    auto const name = std::string_view(text == nullptr ? "" : text, static_cast<std::size_t>(size));
    auto const found = std::find(names.begin(), names.end(), name);
    if (text == nullptr || found == names.end()) return Reading::not_a_name;
    out.assign(1, found - names.begin());
    return Reading::ok;
}

/// An integer of the first `count` ones from 0.
Reading read_code(std::size_t count, nb::handle value, Reading refusal, Vector& out) {
    if (read_vector(value, 1, out) != Reading::ok) return refusal;
    return out[0] >= 0 && out[0] < static_cast<Int>(count) ? Reading::ok : refusal;
}

}  // namespace

// NumPy 2 refuses to convert its bools to integers; NumPy 1 only warns.
bool is_bool(PyObject* value) {
    std::string_view const type = Py_TYPE(value)->tp_name;
    return PyBool_Check(value) != 0 || type == "numpy.bool_" || type == "numpy.bool";
}

std::string shown(nb::handle value) {
    auto const text = nb::steal(PyObject_Repr(value.ptr()));
    if (text.is_valid()) return shortened(escaped_text(text.ptr()));
    PyErr_Clear();  // such as an int too long to print
    return std::string("<") + Py_TYPE(value.ptr())->tp_name + ">";
}

std::string_view text_of(nb::handle value, char const* demand) {
    Py_ssize_t size = 0;
    char const* text = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
    if (text != nullptr) return {text, static_cast<std::size_t>(size)};
    PyErr_Clear();  // a lone surrogate, which is no character
    throw WrongType(std::string(demand) + (PyUnicode_Check(value.ptr()) ? " without surrogates, got " : ", got ") +
                    shown(value));
}

// NumPy 2 refuses to convert its bools to integers; NumPy 1 only warns.
bool is_bool(nb::handle value) {
    if (PyBool_Check(value.ptr()) != 0) return true;
    std::string_view const type = Py_TYPE(value.ptr())->tp_name;
    return type == "numpy.bool" || type == "numpy.bool_";
}

Reading read_integer(nb::handle value, Int& out) {
    if (PyLong_CheckExact(value.ptr())) return read_int_object(value.ptr(), out);
    if (is_bool(value) || PyIndex_Check(value.ptr()) == 0) return Reading::not_an_integer;
    auto const integer = nb::steal(PyNumber_Index(value.ptr()));
    if (integer.is_valid()) return read_int_object(integer.ptr(), out);
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) nb::raise_python_error();
    PyErr_Clear();  // NumPy's longer arrays have the slot, but refuse
    return Reading::not_an_integer;
}

Reading read_vector(nb::handle value, std::size_t length, Vector& out) {
    if (PyTuple_CheckExact(value.ptr()) == 0 && PyList_CheckExact(value.ptr()) == 0) {
        out.resize(1);
        auto const reading = read_integer(value, out[0]);
        if (reading == Reading::ok) return length <= 1 ? Reading::ok : Reading::wrong_length;
        if (reading == Reading::out_of_range || !is_sequence(value.ptr())) return reading;
    }
    auto const size = PySequence_Size(value.ptr());
    if (size < 0) {
        PyErr_Clear();
        return Reading::not_an_integer;
    }
    auto const count = static_cast<std::size_t>(size);
    if (length == 0 ? count == 0 || count > max_vector_length : count != length) return Reading::wrong_length;
    return read_items(value.ptr(), size, out);
}

Reading read_attribute(Attribute const& attribute, nb::handle value, Vector& out) {
    if (attribute.names.empty() && !attribute.is_flag()) return read_vector(value, attribute.length, out);
    if (!attribute.is_flag()) {
        if (PyUnicode_Check(value.ptr()) != 0) return read_name(attribute.names, value, out);
        return read_code(attribute.names.size(), value, Reading::not_a_name, out);
    }
    if (!is_bool(value)) return read_code(2, value, Reading::not_a_flag, out);
    auto const truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) nb::raise_python_error();
    out.assign(1, truth);
    return Reading::ok;
}

void refuse_value(Reading reason, std::string const& owner, Attribute const& attribute, nb::handle value) {
    auto const place = owner + ": attribute '" + attribute.name + "' ";
    if (reason == Reading::out_of_range)
        throw StateError(place + "must fit in a signed 64-bit integer, got " + shown(value));
    if (reason == Reading::not_a_flag) throw StateError(place + "takes True, False, 1 or 0, got " + shown(value));
    if (reason == Reading::not_a_name) {  // Python looks for the nearest name
        auto const advice = nb::module_::import_("treethink.errors").attr("names_accepted")(attribute.names, value);
        throw StateError(place + "takes " + nb::cast<std::string>(advice) + ", got " + shown(value));
    }
    throw StateError(place + "takes " + expected(attribute.length) + ", got the value " + shown(value));
}

Int read_id(nb::handle value) {
    Int id = 0;
    auto const reading = read_integer(value, id);
    if (reading == Reading::ok) return id;
    throw StateError(std::string("an object's id must be ") +
                     (reading == Reading::out_of_range ? "within the signed 64-bit integers" : "an integer") +
                     ", got " + shown(value));
}

nb::object value_object(VectorView value) {
    if (value.size() == 1) return nb::steal(PyLong_FromLongLong(value[0]));
    auto tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(value.size())));
    if (!tuple.is_valid()) nb::raise_python_error();
    for (std::size_t k = 0; k < value.size(); ++k) {
        PyObject* item = PyLong_FromLongLong(value[k]);
        if (item == nullptr) nb::raise_python_error();
        PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(k), item);
    }
    return tuple;
}

nb::object value_object(Attribute const& attribute, VectorView value) {
    if (value.size() != 1 || value[0] < 0) return value_object(value);
    auto const code = static_cast<std::size_t>(value[0]);
    if (attribute.is_flag() && code < 2) return nb::bool_(code == 1);
    if (code >= attribute.names.size()) return value_object(value);
    auto const& name = attribute.names[code];
    return nb::str(name.data(), name.size());
}

State const& state_of(nb::handle value, char const* demand) {
    State const* state = nullptr;
    if (!value.is_none() && nb::try_cast(value, state, false)) return *state;
    throw WrongType(std::string(demand) + ", got " + shown(value));
}

std::shared_ptr<Schema const> schema_of(nb::handle value) {
    std::shared_ptr<Schema const> schema;
    if (!value.is_none() && nb::try_cast(value, schema, false)) return schema;
    throw WrongType("schema must be a Schema, got " + shown(value));
}

ActionId action_of(Schema const& schema, nb::handle action) {
    return schema.action_named(text_of(action, "an action must be a str"));
}

Place place_of(State const& state, Int id) {
    if (auto const place = state.roster()->find(id)) return *place;
    auto const count = state.roster()->size();
    throw StateError("no object has the id " + std::to_string(id) + " in this state of " + std::to_string(count) +
                     (count == 1 ? " object" : " objects"));
}

SlotId slot_named(Schema const& schema, ClassId class_id, std::string_view attribute) {
    // Classes have a handful of attributes: comparing names beats hashing them.
    auto const& own = schema.classes()[class_id];
    for (auto const a : own.attributes)
        if (schema.attributes()[a].name == attribute) return *schema.find_slot(class_id, a);
    std::vector<std::string> known;
    for (auto const a : own.attributes) known.push_back(schema.attributes()[a].name);
    throw UnknownName("attribute", std::string(attribute), known, "class '" + own.name + "'");
}

SlotId column_named(Schema const& schema, ClassId class_id, std::string_view attribute) {
    auto const name_of = [&](SlotId slot) -> std::string const& { return schema.attribute(slot).name; };
    if (attribute.find('+') == std::string_view::npos) return slot_named(schema, class_id, attribute);
    std::vector<std::string> known;
    for (auto const a : schema.classes()[class_id].attributes) known.push_back(schema.attribute(a).name);
    for (std::size_t s = schema.slots().size(); s < schema.columns().size(); ++s) {
        if (schema.column(SlotId(s)).class_id != class_id) continue;
        // Schemas that fit each other may differ in which one is the place.
        auto const [place, step] = schema.terms_of(SlotId(s));
        if (name_of(SlotId(s)) == attribute || name_of(step) + " + " + name_of(place) == attribute) return SlotId(s);
        known.push_back(name_of(SlotId(s)));
    }
    throw UnknownName("attribute", std::string(attribute), known, "class '" + schema.classes()[class_id].name + "'");
}

}  // namespace treethink::bindings
