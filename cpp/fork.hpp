// fork.hpp - what another thread was using when the process was forked.
//
// The child of a fork has only the thread that forked. What the other threads held stays held there for ever,
// and what they were changing stays half-way. So whatever a thread can hold is registered here, and told in
// the child before anything else runs.
#pragma once

namespace treethink {

/// Something that a thread holds for a while. All of them are known, from construction to destruction.
class ForkAware {
public:
    ForkAware(ForkAware const&) = delete;
    ForkAware& operator=(ForkAware const&) = delete;

protected:
    ForkAware();
    ~ForkAware();

private:
    friend struct ForkHandlers;

    /// Called in the child, by its only thread: gives up what threads of the parent hold.
    virtual void release_in_child() noexcept = 0;

    ForkAware* previous_ = nullptr;
    ForkAware* next_ = nullptr;
};

}  // namespace treethink
