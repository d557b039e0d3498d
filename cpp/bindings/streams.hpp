// streams.hpp - transitions and questions that Python gives one by one, or as an iterable.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/common.hpp"
#include "bindings/feedback.hpp"
#include "bindings/signals.hpp"

namespace treethink::bindings {

struct Transition {
    State before;
    ActionId action;
    State after;
    Feedback feedback;
};

/// The items of a list or tuple of `min` to `max` items. Other iterables are refused: they may have no order.
inline std::span<PyObject* const> items_of(nb::handle sequence, Py_ssize_t min, Py_ssize_t max, char const* what) {
    bool const ordered = PyList_Check(sequence.ptr()) || PyTuple_Check(sequence.ptr());
    Py_ssize_t const length = ordered ? PySequence_Fast_GET_SIZE(sequence.ptr()) : -1;
    if (length < min || length > max) throw WrongType(std::string(what) + ", got " + shown(sequence));
    return {PySequence_Fast_ITEMS(sequence.ptr()), static_cast<std::size_t>(length)};
}

inline Transition transition_of(Schema const& schema, nb::handle item) {
    auto const each =
        items_of(item, 3, 5, "a transition must be (before, action, after), or that with a reward and then an end");
    nb::handle const none = Py_None;
    nb::handle const reward = each.size() > 3 ? each[3] : none, terminated = each.size() > 4 ? each[4] : none;
    return {state_of(each[0], "before must be a State"), action_of(schema, each[1]),
            state_of(each[2], "after must be a State"), read_feedback(schema, reward, terminated)};
}

/// A question to a model: (state, action).
inline std::pair<State, ActionId> situation_of(Schema const& schema, nb::handle item) {
    auto const each = items_of(item, 2, 2, "each item must be (state, action)");
    return {state_of(each[0], "state must be a State"), action_of(schema, each[1])};
}

/// Throws WrongType, that begins with `what`, when `items` is not iterable.
inline nb::object iterator_over(nb::handle items, char const* what) {
    nb::object const iterator = nb::steal(PyObject_GetIter(items.ptr()));
    if (iterator.is_valid()) return iterator;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) nb::raise_python_error();
    PyErr_Clear();
    throw WrongType(std::string(what) + ", got " + shown(items));
}

/// How many items to read at once: more while they are quick, so that slow ones are read one by one.
class Pace {
public:
    [[nodiscard]] std::size_t chunk() const { return chunk_; }
    void took(Clock::duration time) {
        chunk_ = time < quick ? std::min(max_chunk, 2 * chunk_) : std::max<std::size_t>(1, chunk_ / 2);
    }

private:
    static constexpr std::chrono::milliseconds quick{5};
    static constexpr std::size_t max_chunk = 256;
    std::size_t chunk_ = 1;
};

/// The next `count` items, converted; fewer at the end. An error is stored in `error`, so that the items before
/// it are not lost.
template <class Item, class Convert>
std::vector<Item> next_items(nb::handle iterator, std::size_t count, Convert&& convert, std::exception_ptr& error) {
    std::vector<Item> items;
    try {
        while (items.size() < count) {
            nb::object const item = nb::steal(PyIter_Next(iterator.ptr()));
            if (!item.is_valid()) {
                if (PyErr_Occurred()) nb::raise_python_error();
                break;
            }
            items.push_back(convert(item));
        }
    } catch (...) {
        error = std::current_exception();
    }
    return items;
}

}  // namespace treethink::bindings
