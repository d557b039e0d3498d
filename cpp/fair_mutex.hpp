// fair_mutex.hpp - a lock for many readers and one writer that keeps neither waiting for ever.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace treethink {

/// A std::shared_mutex may let new readers pass a waiting writer again and again. Here everyone goes
/// through a gate, and a waiting writer holds it, so readers that come later wait behind the writer.
class FairMutex {
public:
    void lock() {
        std::lock_guard const gate(gate_);
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }
    void lock_shared() {
        std::lock_guard const gate(gate_);
        mutex_.lock_shared();
    }
    void unlock_shared() { mutex_.unlock_shared(); }

private:
    std::mutex gate_;
    std::shared_mutex mutex_;
};

}  // namespace treethink
