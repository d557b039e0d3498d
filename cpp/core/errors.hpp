// errors.hpp - the errors that the engine reports about its input. The bindings turn each into the
// Python class of the same name (module.cpp).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace treethink {

/// Base of every error about the engine's input.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct SchemaError : Error {
    using Error::Error;
};
struct StateError : Error {
    using Error::Error;
};
struct TransitionError : Error {
    using Error::Error;
};
struct SettingError : Error {
    using Error::Error;
};
struct RuleError : Error {
    using Error::Error;
};
struct ModelFileError : Error {
    using Error::Error;
};
struct ResourceError : Error {
    using Error::Error;
};
/// A model that a failed change has left half-changed (see model_lock.hpp).
struct BrokenModelError : Error {
    using Error::Error;
};

/// A name that is not in the list it should come from.
struct UnknownName : Error {
    UnknownName(std::string const& kind_of_name, std::string const& unknown, std::vector<std::string> known_names,
                std::string const& place)
        : Error("unknown " + kind_of_name + " '" + unknown + "' in " + place), kind(kind_of_name), name(unknown),
          known(std::move(known_names)), where(place) {}

    std::string kind;                // such as "action"
    std::string name;                // the unknown one
    std::vector<std::string> known;  // names that would have been accepted
    std::string where;               // such as "the schema"
};

/// A name as messages show it.
inline std::string quoted(std::string const& name) { return "'" + name + "'"; }

}  // namespace treethink
