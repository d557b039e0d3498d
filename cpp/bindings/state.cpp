// state.cpp - State as Python sees it.
#include <algorithm>

#include "bindings/objects.hpp"

namespace treethink::bindings {

namespace {

nb::list objects_of(State const& state) {
    nb::list objects;
    for_each_object(state, [&](auto const& writer, auto row) { objects.append(writer.object(row)); });
    return objects;
}

nb::object get_object(State const& state, nb::handle id) {
    auto const place = place_of(state, read_id(id));
    return ObjectWriter(state, place.class_id).object(place.row);
}

nb::tuple of_class(State const& state, nb::handle name) {
    auto const class_id = state.schema()->class_named(text_of(name, "a class name must be a str"));
    ObjectWriter const writer(state, class_id);
    nb::list objects;
    for (std::uint32_t row = 0; row < state.rows(class_id); ++row) objects.append(writer.object(row));
    return nb::tuple(objects);
}

/// The first value is looked up in its column's index; the others are compared.
nb::tuple find(State const& state, nb::handle name, nb::kwargs const& values) {
    auto const& schema = *state.schema();
    auto const class_id = schema.class_named(text_of(name, "a class name must be a str"));
    if (values.size() == 0) return of_class(state, name);
    std::vector<std::pair<SlotId, Vector>> wanted;
    PyObject *attribute = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(values.ptr(), &at, &attribute, &value) != 0;) {
        auto const slot = column_named(schema, class_id, text_of(attribute, "an attribute's name must be a str"));
        wanted.emplace_back(slot, read_sought(schema, slot, value));
    }
    std::vector<std::uint32_t> rows;
    state.column(wanted[0].first)->for_each_row_with(wanted[0].second, [&](std::uint32_t row) {
        if (std::all_of(wanted.begin() + 1, wanted.end(), [&](auto const& each) {
                return std::ranges::equal(state.value(each.first, row), each.second);
            }))
            rows.push_back(row);
        return true;
    });
    if (rows.empty()) return nb::make_tuple();  // the common answer, and the cheapest
    ObjectWriter const writer(state, class_id);
    nb::list objects;
    for (auto const row : rows) objects.append(writer.object(row));
    return nb::tuple(objects);
}

nb::tuple ids_of(State const& state) {
    nb::list ids;
    for (std::size_t c = 0; c < state.roster()->classes(); ++c)
        for (Int const id : state.roster()->ids(ClassId(c))) ids.append(id);
    return nb::tuple(ids);
}

bool contains(State const& state, nb::handle id) {
    Int number = 0;
    return read_integer(id, number) == Reading::ok && state.roster()->find(number).has_value();
}

std::string state_repr(State const& state) {
    constexpr std::size_t most = 12;
    std::string text;
    std::size_t count = 0;
    for_each_object(state, [&](auto const& writer, auto row) {
        if (count++ < most) text += (count == 1 ? "" : ", ") + nb::cast<std::string>(nb::repr(writer.object(row)));
    });
    if (count > most) text += ", ... " + std::to_string(count - most) + " more";
    return "State([" + text + "])";
}

void make_state(State* self, nb::handle schema_object, nb::handle objects) {
    auto schema = schema_of(schema_object);
    auto const iterator = nb::steal(PyObject_GetIter(objects.ptr()));
    if (!iterator.is_valid()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) nb::raise_python_error();
        PyErr_Clear();
        throw WrongType("objects must be an iterable of Object, got " + shown(objects));
    }
    std::vector<State::ObjectData> data;
    while (auto const object = nb::steal(PyIter_Next(iterator.ptr()))) data.push_back(read_object(*schema, object));
    if (PyErr_Occurred() != nullptr) nb::raise_python_error();
    new (self) State(derived(State(std::move(schema), std::move(data))));
}

// ---------------------------------------------------------------- changes

State::Replacement read_change(State const& state, Int id, Place place, nb::handle name, nb::handle value) {
    auto const& schema = *state.schema();
    auto const slot = slot_named(schema, place.class_id, text_of(name, "an attribute's name must be a str"));
    return {slot, place.row, read_value(schema, id, slot, value)};
}

/// The same for a value that people give.
State::Replacement read_given_change(State const& state, Int id, Place place, nb::handle name, nb::handle value) {
    auto change = read_change(state, id, place, name, value);
    Schema const& schema = *state.schema();
    if (schema.computes(change.slot))
        throw StateError("object " + std::to_string(id) + " ('" + schema.classes()[place.class_id].name +
                         "'): attribute '" + schema.attribute(change.slot).name +
                         "' is derived: it is computed from the rest of the state, and cannot be replaced");
    return change;
}

State replace(State const& state, nb::handle id_object, nb::kwargs const& values) {
    auto const id = read_id(id_object);
    auto const place = place_of(state, id);
    std::vector<State::Replacement> changes;
    // Nobody else holds the keywords, so they need no copy.
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(values.ptr(), &at, &name, &value) != 0;)
        changes.push_back(read_given_change(state, id, place, name, value));
    if (changes.size() == 1) return derived(state.with(changes[0].slot, changes[0].row, changes[0].value));
    return derived(state.with(changes));
}

/// Calls read(state, id, place, name, value) for each replacement.
template <class Read>
std::vector<State::Replacement> read_changes(State const& state, nb::handle replacements, Read const& read) {
    if (!is_mapping(replacements))
        throw WrongType("replace_many takes {id: {attribute: value}}, got " + shown(replacements));
    std::vector<State::Replacement> changes;
    for_each_item(replacements, [&](nb::handle id_object, nb::handle values) {
        auto const id = read_id(id_object);
        auto const place = place_of(state, id);
        if (!is_mapping(values))
            throw WrongType("replace_many takes {attribute: value} for object " + std::to_string(id) + ", got " +
                            shown(values));
        for_each_item(
            values, [&](nb::handle name, nb::handle value) { changes.push_back(read(state, id, place, name, value)); });
    });
    return changes;
}

State replace_many(State const& state, nb::handle replacements) {
    return derived(state.with(read_changes(state, replacements, read_given_change)));
}

/// A copy with these derived values; columns in which none is new stay shared.
State with_derived(State const& state, nb::handle replacements) {
    auto changes = read_changes(state, replacements, read_change);
    std::erase_if(changes,
                  [&](auto const& each) { return std::ranges::equal(state.value(each.slot, each.row), each.value); });
    return state.with(changes);
}

/// Columns that the two share are not looked at.
nb::dict changes_to(State const& before, nb::handle other) {
    State const& after = state_of(other, "the state after must be a State");
    auto const& schema = *before.schema();
    if (!schema.fits(*after.schema())) throw StateError("the state after is of another schema");
    check_same_objects(before, after);
    nb::dict changes;
    for (std::size_t s = 0; s < schema.slots().size(); ++s) {
        auto const slot = SlotId(s);
        if (before.column(slot) == after.column(slot) || schema.computes(slot)) continue;
        auto const [class_id, attribute] = schema.slots()[s];
        for (std::uint32_t row = 0; row < before.rows(class_id); ++row) {
            if (std::ranges::equal(before.value(slot, row), after.value(slot, row))) continue;
            auto const id = nb::int_(before.roster()->id({class_id, row}));
            if (!changes.contains(id)) changes[id] = nb::dict();
            changes[id][schema.attributes()[attribute].name.c_str()] =
                value_object(schema.attribute(slot), after.value(slot, row));
        }
    }
    return changes;
}

nb::object value_of(State const& state, nb::handle id, nb::handle attribute) {
    auto const place = place_of(state, read_id(id));
    auto const slot =
        column_named(*state.schema(), place.class_id, text_of(attribute, "an attribute's name must be a str"));
    return value_object(state.schema()->attribute(slot), state.value(slot, place.row));
}

// ---------------------------------------------------------- dict and JSON

nb::dict to_dict(State const& state) {
    nb::list objects;
    for_each_object(state, [&](auto const& writer, auto row) { objects.append(writer.plain(row)); });
    nb::dict data;
    data["objects"] = objects;
    return data;
}

State from_dict(nb::handle schema_object, nb::handle data) {
    auto schema = schema_of(schema_object);
    if (!PyDict_Check(data.ptr())) throw WrongType("a state's data must be a dict, got " + shown(data));
    auto rest = copied_items(data);
    auto const entries = take(rest, "objects", "a state's data");
    if (rest.size() != 0) throw StateError("a state's data has only the key 'objects', got also " + shown(rest.keys()));
    if (!PyList_Check(entries.ptr()) && !PyTuple_Check(entries.ptr()))
        throw StateError("'objects' must be a list, got " + shown(entries));
    std::vector<State::ObjectData> objects;
    for (auto const entry : nb::tuple(entries))
        objects.push_back(read_entry(*schema, entry, "objects[" + std::to_string(objects.size()) + "]"));
    return derived(State(std::move(schema), std::move(objects)));
}

nb::object to_json(State const& state) {
    nb::tuple const separators = nb::make_tuple(",", ":");
    return nb::module_::import_("json").attr("dumps")(to_dict(state), nb::arg("separators") = separators);
}

nb::object parse_json(nb::handle text) {
    try {
        return nb::module_::import_("json").attr("loads")(text);
    } catch (nb::python_error& error) {
        // Malformed text, an integer of thousands of digits, or nesting without end.
        if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_RecursionError)) throw;
        throw StateError("a state's text is not JSON: " + nb::cast<std::string>(nb::str(error.value())));
    }
}

State from_json(nb::handle schema, nb::handle text) {
    text_of(text, "a state's text must be a str");
    return from_dict(schema, parse_json(text));
}

nb::tuple reduce(nb::handle self) {
    auto const& state = nb::cast<State const&>(self);
    return nb::make_tuple(nb::type<State>(), nb::make_tuple(state.schema(), objects_of(state)));
}

// Making states, and changed copies.
void bind_changes(nb::class_<State>& type) {
    type.def("__init__", &make_state, nb::arg("schema").none(), nb::arg("objects").none(),
             nb::sig("def __init__(self, schema: FullSchema, objects: collections.abc.Iterable[Object]) -> None"))
        .def("replace", &replace, nb::arg("id").none(), nb::arg("values"),
             nb::sig("def replace(self, id: typing.SupportsIndex, /, **values: Value) -> State"),
             "A copy in which object `id` has the given values.")
        .def("replace_many", &replace_many, nb::arg("replacements").none(),
             nb::sig("def replace_many(self, replacements: "
                     "collections.abc.Mapping[int, collections.abc.Mapping[str, Value]], /) -> State"),
             "A copy with new values for several objects: {id: {attribute: value}}.")
        .def("_with_derived", &with_derived, nb::arg("values"),
             nb::sig("def _with_derived(self, values: collections.abc.Mapping[int, "
                     "collections.abc.Mapping[str, typing.Any]], /) -> State"),
             "A copy with derived values, from which nothing else is computed: {id: {attribute: value}}.")
        .def("changes_to", &changes_to, nb::arg("after").none(),
             nb::sig("def changes_to(self, after: State, /) -> dict[int, dict[str, PlainValue]]"),
             "What `replace_many` needs to make `after` out of this state. Computed values are left out.")
        .def("value", &value_of, nb::arg("id").none(), nb::arg("attribute").none(),
             nb::sig("def value(self, id: typing.SupportsIndex, attribute: str, /) -> typing.Any"),
             "One value of one object: an int, a tuple of ints, a name of a category, or a bool of a flag.");
}

// Objects of a state.
void bind_objects(nb::class_<State>& type) {
    type.def("__getitem__", &get_object, nb::arg("id").none(),
             nb::sig("def __getitem__(self, id: typing.SupportsIndex, /) -> Object"))
        .def("__contains__", &contains, nb::arg("id").none(), nb::sig("def __contains__(self, id: object, /) -> bool"))
        .def("__len__", [](State const& state) { return state.roster()->size(); })
        .def(
            "__iter__", [](State const& state) { return nb::iter(objects_of(state)); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[Object]"))
        .def_prop_ro("ids", &ids_of, nb::sig("def ids(self) -> tuple[int, ...]"),
                     "Ids of all objects, by class, then id.")
        .def("of_class", &of_class, nb::arg("name").none(),
             nb::sig("def of_class(self, name: str, /) -> tuple[Object, ...]"), "All objects of a class, by id.")
        .def("find", &find, nb::arg().none(), nb::arg("values"),  // without a name: attributes may have any
             nb::sig("def find(self, name: str, /, **values: Value) -> tuple[Object, ...]"),
             "The objects of a class that have the given values, by id. Takes constant time per object found.")
        .def_prop_ro(
            "schema", [](State const& state) { return state.schema(); }, nb::sig("def schema(self) -> FullSchema"),
            "The schema that the state was made with.");
}

// Comparison, printing and conversion.
void bind_values(nb::class_<State>& type) {
    type.def(
            "__eq__", [](State const& a, State const& b) { return a == b; }, nb::is_operator(),
            nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](State const& state) { return static_cast<Py_hash_t>(state.hash()); })
        .def("__repr__", &state_repr)
        .def("to_dict", &to_dict, nb::sig("def to_dict(self) -> dict[str, list[dict[str, typing.Any]]]"),
             "Plain data: {\"objects\": [{\"id\": 50, \"class\": \"player\", \"pos\": [5, 2]}, ...]}.")
        .def_static("from_dict", &from_dict, nb::arg("schema").none(), nb::arg("data").none(),
                    nb::sig("def from_dict(schema: FullSchema, data: object) -> State"),
                    "The state that `to_dict` made `data` from. StateError says what is wrong with it.")
        .def("to_json", &to_json, nb::sig("def to_json(self) -> str"), "`to_dict` as JSON text.")
        .def_static("from_json", &from_json, nb::arg("schema").none(), nb::arg("text").none(),
                    nb::sig("def from_json(schema: FullSchema, text: str) -> State"),
                    "The state that `to_json` made `text` from.")
        .def(
            "__copy__", [](nb::object self) { return self; }, nb::sig("def __copy__(self) -> State"))
        .def(
            "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo").none(),
            nb::sig("def __deepcopy__(self, memo: object, /) -> State"))
        .def("__reduce__", &reduce, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

}  // namespace

void bind_state(nb::module_& module) {
    module.def("fill_object", &fill_object, nb::arg("object").none(), nb::arg("id").none(),
               nb::arg("class_name").none(), nb::arg("values"),
               nb::sig("def fill_object(object: Object, id: typing.SupportsIndex, class_name: str, "
                       "values: dict[str, Value]) -> None"),
               "The constructor of treethink.Object.");

    // The stub's imports stand before the class: signatures cannot name our Python modules in
    // full, because the stub is written before those can be imported.
    nb::class_<State> type(
        module, "State",
        nb::sig("from .state import Object, PlainValue, Value\nfrom .state import Schema as FullSchema\nclass State()"),
        R"(A set of objects with their values: immutable, hashable, free of order.

A changed copy shares what did not change. Objects come out by class, then id.)");
    bind_changes(type);
    bind_objects(type);
    bind_values(type);
}

}  // namespace treethink::bindings
