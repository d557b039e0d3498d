// model.hpp - models that other bindings ask.
#pragma once

#include "../model.hpp"
#include "common.hpp"

namespace treethink::bindings {

/// The model in a Python object; none if it is something else.
Model const* model_in(nb::handle object);

}  // namespace treethink::bindings
