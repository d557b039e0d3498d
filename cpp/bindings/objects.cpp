// objects.cpp - see objects.hpp.
#include "bindings/objects.hpp"

namespace treethink::bindings {

namespace {

std::string described(Schema const& schema, Int id, ClassId class_id) {
    return "object " + std::to_string(id) + " ('" + schema.classes()[class_id].name + "')";
}

nb::object interned(std::string const& text) {
    PyObject* name = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    if (name == nullptr) nb::raise_python_error();
    PyUnicode_InternInPlace(&name);
    return nb::steal(name);
}

void set_item(nb::dict& dict, nb::handle key, nb::handle value) {
    if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr()) != 0) nb::raise_python_error();
}

PyObject* name_of_slot(char const* name) {  // strings of our own, kept for good
    PyObject* text = PyUnicode_InternFromString(name);
    if (text == nullptr) nb::raise_python_error();
    return text;
}

struct ObjectSlots {
    PyObject* id = name_of_slot("id");
    PyObject* class_name = name_of_slot("class_name");
    PyObject* values = name_of_slot("__dict__");
};

ObjectSlots const& object_slots() {
    static ObjectSlots const slots;
    return slots;
}

/// Fills an Object. Objects refuse assignment; this goes around their refusal.
void fill_slots(nb::handle object, nb::handle id, nb::handle class_name, nb::handle values) {
    auto const set = [&](PyObject* name, nb::handle value) {
        if (PyObject_GenericSetAttr(object.ptr(), name, value.ptr()) != 0) nb::raise_python_error();
    };
    set(object_slots().id, id);
    set(object_slots().class_name, class_name);
    set(object_slots().values, values);
}

nb::object slot_of_object(nb::handle object, PyObject* name) {
    auto value = nb::steal(PyObject_GetAttr(object.ptr(), name));
    if (value.is_valid()) return value;
    PyErr_Clear();
    throw WrongType("a State is made of Objects, got one that was never initialised");
}

/// A value for a slot; owner() is who it would belong to, should it be refused.
template <class Owner>
Vector read_in_slot(Schema const& schema, SlotId slot, nb::handle value, Owner const& owner) {
    Vector result;
    auto const& attribute = schema.attribute(slot);
    auto const reading = read_attribute(attribute, value, result);
    if (reading != Reading::ok) refuse_value(reading, owner(), attribute, value);
    return result;
}

/// A value without a schema, which says later what it means: a str, a bool, or integers.
template <class Refuse>
nb::object plain_value(nb::handle value, Refuse const& refuse) {
    if (PyUnicode_Check(value.ptr()) != 0) return nb::str(value);
    if (is_bool(value)) return nb::bool_(PyObject_IsTrue(value.ptr()) == 1);
    Vector read;
    auto const reading = read_vector(value, 0, read);
    if (reading != Reading::ok) refuse(reading);
    return value_object(read);
}

/// Collects the values of one object, in any order, and checks that none is missing.
class ObjectReader {
public:
    ObjectReader(Schema const& schema, Int id, ClassId class_id)
        : schema_(schema), data_{id, class_id, std::vector<Vector>(schema.classes()[class_id].attributes.size())} {}

    void add(nb::handle name, nb::handle value) {
        auto const slot = slot_named(schema_, data_.class_id, text_of(name, "an attribute's name must be a str"));
        data_.values[position(slot)] = read_value(schema_, data_.id, slot, value);
    }

    State::ObjectData finish() {
        auto const& attributes = schema_.classes()[data_.class_id].attributes;
        for (std::size_t k = 0; k < attributes.size(); ++k)
            if (data_.values[k].empty()) data_.values[k] = default_of(attributes[k]);
        return std::move(data_);
    }

private:
    /// The value before an attribute is computed. Throws StateError for one that must be given.
    [[nodiscard]] Vector default_of(AttributeId a) const {
        Attribute const& attribute = schema_.attributes()[a];
        if (schema_.computes(*schema_.find_slot(data_.class_id, a))) return Vector(attribute.length, 0);
        throw StateError(described(schema_, data_.id, data_.class_id) + " lacks the attribute '" + attribute.name +
                         (attribute.derived ? "', and its schema has no function that computes it" : "'"));
    }

    // Slots of a class follow each other in the order of its attributes.
    [[nodiscard]] std::size_t position(SlotId slot) const {
        auto const first = schema_.classes()[data_.class_id].attributes.front();
        return slot - *schema_.find_slot(data_.class_id, first);
    }

    Schema const& schema_;
    State::ObjectData data_;
};

}  // namespace

// ------------------------------------------------------------ objects out

ObjectWriter::ObjectWriter(State const& state, ClassId class_id)
    : state_(state), class_id_(class_id), class_name_(interned(state.schema()->classes()[class_id].name)) {
    auto const& schema = *state.schema();
    for (auto const a : schema.classes()[class_id].attributes)
        names_.emplace_back(*schema.find_slot(class_id, a), interned(schema.attributes()[a].name));
}

nb::object ObjectWriter::id(std::uint32_t row) const {
    return nb::steal(PyLong_FromLongLong(state_.roster()->id({class_id_, row})));
}

nb::object ObjectWriter::value(SlotId slot, std::uint32_t row) const {
    return value_object(state_.schema()->attribute(slot), state_.value(slot, row));
}

nb::object ObjectWriter::object(std::uint32_t row) const {
    nb::dict values;
    for (auto const& [slot, name] : names_) set_item(values, name, value(slot, row));
    auto* type = reinterpret_cast<PyTypeObject*>(object_class().ptr());
    auto result = nb::steal(PyType_GenericAlloc(type, 0));
    if (!result.is_valid()) nb::raise_python_error();
    fill_slots(result, id(row), class_name_, values);
    return result;
}

nb::dict ObjectWriter::plain(std::uint32_t row) const {
    nb::dict data;
    data["id"] = id(row);
    data["class"] = class_name_;
    for (auto const& [slot, name] : names_) {
        auto value = this->value(slot, row);
        set_item(data, name, PyTuple_Check(value.ptr()) ? nb::object(nb::list(value)) : value);
    }
    return data;
}

void fill_object(nb::handle object, nb::handle id, nb::handle class_name, nb::handle values) {
    auto const number = read_id(id);
    auto const name = text_of(class_name, "a class name must be a str");
    nb::dict plain;
    for_each_item(values, [&](nb::handle attribute, nb::handle value) {
        set_item(plain, attribute, plain_value(value, [&](Reading reading) {
                     Attribute unknown;
                     unknown.name = text_of(attribute, "an attribute's name must be a str");
                     unknown.length = 0;
                     refuse_value(reading, "object " + std::to_string(number) + " ('" + std::string(name) + "')",
                                  unknown, value);
                 }));
    });
    fill_slots(object, nb::steal(PyLong_FromLongLong(number)), class_name, plain);
}

// ------------------------------------------------------------- objects in

bool is_mapping(nb::handle value) { return PyDict_Check(value.ptr()) || PyObject_HasAttrString(value.ptr(), "keys"); }

nb::dict copied_items(nb::handle mapping) {
    nb::dict copy;
    if (PyDict_Update(copy.ptr(), mapping.ptr()) != 0) nb::raise_python_error();
    return copy;
}

nb::object take(nb::dict const& entry, char const* key, std::string const& where) {
    if (!entry.contains(key)) throw StateError(where + " lacks the key '" + key + "'");
    auto value = nb::borrow(entry[key]);
    nb::del(entry[key]);
    return value;
}

Vector read_value(Schema const& schema, Int id, SlotId slot, nb::handle value) {
    return read_in_slot(schema, slot, value, [&] { return described(schema, id, schema.slots()[slot].class_id); });
}

Vector read_sought(Schema const& schema, SlotId slot, nb::handle value) {
    return read_in_slot(schema, slot, value,
                        [&] { return "class '" + schema.classes()[schema.column(slot).class_id].name + "'"; });
}

State::ObjectData read_object(Schema const& schema, nb::handle object) {
    auto const known = PyObject_IsInstance(object.ptr(), object_class().ptr());
    if (known < 0) nb::raise_python_error();
    if (known == 0) throw WrongType("a State is made of Objects, got " + shown(object));
    auto const id = read_id(slot_of_object(object, object_slots().id));
    auto const class_name = slot_of_object(object, object_slots().class_name);
    ObjectReader reader(schema, id, schema.class_named(text_of(class_name, "a class name must be a str")));
    for_each_item(slot_of_object(object, object_slots().values),
                  [&](nb::handle name, nb::handle value) { reader.add(name, value); });
    return reader.finish();
}

State::ObjectData read_entry(Schema const& schema, nb::handle entry, std::string const& where) {
    if (!PyDict_Check(entry.ptr())) throw StateError(where + " must be a dict, got " + shown(entry));
    auto rest = copied_items(entry);
    auto const id = read_id(take(rest, "id", where));
    auto const class_name = take(rest, "class", where);
    ObjectReader reader(schema, id, schema.class_named(text_of(class_name, "a class name must be a str")));
    for_each_item(rest, [&](nb::handle name, nb::handle value) { reader.add(name, value); });
    return reader.finish();
}

}  // namespace treethink::bindings
