// py_model.hpp - the engine's model inside a Python object, for other bindings that use it.
#pragma once

#include "bindings/common.hpp"
#include "model.hpp"

namespace treethink::bindings {

/// The model in a Python object; null if the object is no model of the engine.
Model const* model_in(nb::handle object);

}  // namespace treethink::bindings
