// gil.hpp - taking the GIL back where it was released.
#pragma once

#include <nanobind/nanobind.h>

namespace treethink::bindings {

/// Holds the GIL as long as this exists, whether or not the thread had it before. A thread that cannot have it
/// any more, because Python shuts down, never comes back (see thread_exit.cpp); nanobind's own class comes
/// back without the GIL in Python 3.15.
class AcquireGil {
public:
    AcquireGil() : state_(PyGILState_Ensure()) {}
    ~AcquireGil() { PyGILState_Release(state_); }
    AcquireGil(AcquireGil const&) = delete;
    AcquireGil& operator=(AcquireGil const&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace treethink::bindings
