// signals.hpp - Ctrl-C is heard while the engine works.
#pragma once

#include <chrono>

#include "bindings/gil.hpp"

namespace treethink::bindings {

using Clock = std::chrono::steady_clock;

/// Looks at signals now and then, whether or not the GIL is released.
class SignalWatch {
public:
    void look() {
        if (Clock::now() - last_ < between) return;
        AcquireGil const acquire;
        if (PyErr_CheckSignals() != 0) nanobind::raise_python_error();
        last_ = Clock::now();
    }

private:
    static constexpr auto between = std::chrono::milliseconds(50);
    Clock::time_point last_ = Clock::now();
};

}  // namespace treethink::bindings
