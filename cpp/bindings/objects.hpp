// objects.hpp - objects of a state as Python gives and gets them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/common.hpp"

namespace treethink::bindings {

/// The class treethink.Object.
nb::object object_class();

/// What the constructor of treethink.Object does: checks its parts, and keeps them as a plain
/// int, a str, and ints and tuples of ints.
void fill_object(nb::handle object, nb::handle id, nb::handle class_name, nb::handle values);

/// Makes Python objects of one class of a state, which must outlive this.
class ObjectWriter {
public:
    ObjectWriter(State const& state, ClassId class_id);
    /// A treethink.Object, filled without the checks that its constructor makes.
    [[nodiscard]] nb::object object(std::uint32_t row) const;
    /// The same as plain data: {"id": 50, "class": "player", "pos": [5, 2]}.
    [[nodiscard]] nb::dict plain(std::uint32_t row) const;

private:
    [[nodiscard]] nb::object id(std::uint32_t row) const;
    [[nodiscard]] nb::object value(SlotId slot, std::uint32_t row) const;

    State const& state_;
    ClassId class_id_;
    nb::object class_name_;
    std::vector<std::pair<SlotId, nb::object>> names_;
};

/// Calls take(writer, row) for every object, by class, then id.
template <class Take>
void for_each_object(State const& state, Take const& take) {
    for (std::size_t c = 0; c < state.schema()->classes().size(); ++c) {
        if (state.rows(ClassId(c)) == 0) continue;
        ObjectWriter const writer(state, ClassId(c));
        for (std::uint32_t row = 0; row < state.rows(ClassId(c)); ++row) take(writer, row);
    }
}

/// A value for an object's attribute. Throws StateError that names object and attribute.
Vector read_value(Schema const& schema, Int id, SlotId slot, nb::handle value);
/// A value that objects are looked up by. Throws StateError that names class and attribute.
Vector read_sought(Schema const& schema, SlotId slot, nb::handle value);
/// An object from a treethink.Object. Throws WrongType, UnknownName, StateError.
State::ObjectData read_object(Schema const& schema, nb::handle object);
/// An object from plain data; `where` begins the messages. Throws UnknownName, StateError.
State::ObjectData read_entry(Schema const& schema, nb::handle entry, std::string const& where);

bool is_mapping(nb::handle value);
/// A mapping's items as a dict of our own: reading values may run code that changes the mapping.
nb::dict copied_items(nb::handle mapping);
/// Takes a value out of a dict of our own. Throws StateError, that begins with `where`, when it lacks it.
nb::object take(nb::dict const& entry, char const* key, std::string const& where);

/// Calls take(key, value) for each item of a copy of the mapping.
template <class Take>
void for_each_item(nb::handle mapping, Take const& take) {
    auto const copy = copied_items(mapping);
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t place = 0; PyDict_Next(copy.ptr(), &place, &key, &value) != 0;)
        take(nb::handle(key), nb::handle(value));
}

}  // namespace treethink::bindings
