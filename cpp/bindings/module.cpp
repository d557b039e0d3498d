// module.cpp - the extension treethink._engine: its parts, its errors, its way to end.
#include <exception>
#include <new>
#include <utility>

#include "bindings/objects.hpp"

namespace treethink::bindings {

void bind_schema(nb::module_& module);
void bind_state(nb::module_& module);
void bind_prediction(nb::module_& module);
void bind_model(nb::module_& module);
void bind_trees(nb::module_& module);
void bind_qora(nb::module_& module);
void bind_search(nb::module_& module);

namespace {

// The class treethink.Object, kept from its first use until the interpreter begins to
// shut down: held longer, it would keep everything alive that its module knows.
PyObject* kept_object_class = nullptr;
bool shutting_down = false;

nb::object text(std::string const& utf8) {  // names from a damaged file need not be UTF-8
    return nb::steal(PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

nb::object error_class(char const* name) { return nb::module_::import_("treethink.errors").attr(name); }

void set_error(char const* name, Error const& error) {
    PyErr_SetObject(error_class(name).ptr(), text(error.what()).ptr());
}

void set_error(UnknownName const& error) {
    nb::list known;
    for (auto const& each : error.known) known.append(text(each));
    auto const type = error_class("UnknownNameError");
    PyErr_SetObject(type.ptr(), type(text(error.kind), text(error.name), known, text(error.where)).ptr());
}

void translate(std::exception_ptr const& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (UnknownName const& error) {
        set_error(error);
    } catch (WrongType const& error) {
        set_error("WrongTypeError", error);
    } catch (SchemaError const& error) {
        set_error("SchemaError", error);
    } catch (StateError const& error) {
        set_error("StateError", error);
    } catch (RuleError const& error) {
        set_error("RuleError", error);
    } catch (TransitionError const& error) {
        set_error("TransitionError", error);
    } catch (SettingError const& error) {
        set_error("SettingError", error);
    } catch (ModelFileError const& error) {
        set_error("ModelFileError", error);
    } catch (ResourceError const& error) {
        set_error("ResourceError", error);
    } catch (BrokenModelError const& error) {
        set_error("BrokenModelError", error);
    } catch (Error const& error) {
        set_error("TreeThinkError", error);
    } catch (std::bad_alloc const&) {
        PyErr_SetString(PyExc_MemoryError, "memory ran out");
    }
}

// The first exception of a thread needs memory for the thread's own data, and where there is none the C library ends
// the process. So the main thread throws one while there is memory.
void make_room_for_exceptions() {
    try {
        throw std::bad_alloc();
    } catch (std::bad_alloc const&) {  // NOLINT(bugprone-empty-catch): nothing has failed
    }
}

// The Python exception for something that was thrown.
nb::object exception_object(std::exception_ptr const& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (nb::python_error const& error) {
        return nb::borrow(error.value());
    } catch (Error const&) {
        translate(thrown, nullptr);
        return nb::borrow(nb::python_error().value());
    } catch (std::bad_alloc const&) {
        return nb::borrow(PyExc_MemoryError)("memory ran out");
    } catch (std::exception const& error) {
        return nb::borrow(PyExc_RuntimeError)(error.what());
    }
}

// Sets an attribute of a type that Python holds immutable: nanobind's types of functions. Only that flag is put
// back: setting an attribute also takes away the flag of a valid version tag.
void set_on_type(nb::type_object type, nb::str name, nb::handle value) {
    auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
    raw->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
    int const failed = PyObject_SetAttr(type.ptr(), name.ptr(), value.ptr());
    raw->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
    if (failed != 0) nb::raise_python_error();
}

void shut_down() {
    shutting_down = true;
    Py_CLEAR(kept_object_class);
}

}  // namespace

void raise_errors(std::exception_ptr const& error, std::exception_ptr const& earlier) {
    if (!error && !earlier) return;
    if (!error || !earlier) std::rethrow_exception(error ? error : earlier);
    nb::object raised = exception_object(error), context = exception_object(earlier);
    auto const interrupts = [](nb::object const& each) { return !PyObject_IsInstance(each.ptr(), PyExc_Exception); };
    if (interrupts(context) && !interrupts(raised)) std::swap(raised, context);
    bool const has_context = nb::steal(PyException_GetContext(raised.ptr())).is_valid();
    if (!has_context && !raised.is(context)) PyException_SetContext(raised.ptr(), context.release().ptr());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    nb::raise_python_error();
}

nb::object object_class() {
    if (kept_object_class != nullptr) return nb::borrow(kept_object_class);
    nb::object found = nb::module_::import_("treethink.state").attr("Object");
    if (!shutting_down) kept_object_class = nb::borrow(found).release().ptr();
    return found;
}

namespace {

// What compiled this extension, for reports of bugs.
char const* compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#elif defined(_MSC_FULL_VER)
#define TREETHINK_TEXT(number) #number
#define TREETHINK_TEXT_OF(macro) TREETHINK_TEXT(macro)
    return "msvc " TREETHINK_TEXT_OF(_MSC_FULL_VER);
#else
    return "unknown";
#endif
}

}  // namespace

}  // namespace treethink::bindings

NB_MODULE(_engine, module) {
    using namespace treethink::bindings;
    module.doc() = "The engine: states, facts, trees and whole-model learning, in C++.";
    module.attr("compiler") = compiler();
    make_room_for_exceptions();
    nb::set_leak_warnings(false);  // what Python keeps until its end (a world's schema, say) is no leak
    nb::register_exception_translator(&translate, nullptr);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&shut_down));
    module.def("_set_on_type", &set_on_type, nb::arg("type"), nb::arg("name"), nb::arg("value"),
               nb::sig("def _set_on_type(type: type, name: str, value: object) -> None"));
    bind_schema(module);
    bind_state(module);
    bind_prediction(module);
    bind_model(module);
    bind_trees(module);
    bind_qora(module);
    bind_search(module);
}
