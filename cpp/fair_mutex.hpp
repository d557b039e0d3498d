// fair_mutex.hpp - a lock for many readers and one writer that keeps neither waiting for ever.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "core/errors.hpp"
#include "fork.hpp"

namespace treethink {

/// A std::shared_mutex may let new readers pass a waiting writer again and again. Here everyone goes
/// through a gate, and a waiting writer holds it, so readers that come later wait behind the writer.
///
/// In the child of a fork the lock is free. If another thread had it for writing, what it protects is half-way
/// there, and both ways to lock throw BrokenModelError.
class FairMutex final : ForkAware {
public:
    void lock() {
        check_whole();
        std::lock_guard const gate(gate_);
        mutex_.lock();
        writing_.store(true, std::memory_order_relaxed);
        // A copy of the memory that has a change of the writer must have the mark, too.
        std::atomic_thread_fence(std::memory_order_release);
    }
    void unlock() {
        writing_.store(false, std::memory_order_release);
        mutex_.unlock();
    }
    void lock_shared() {
        check_whole();
        std::lock_guard const gate(gate_);
        mutex_.lock_shared();
    }
    void unlock_shared() { mutex_.unlock_shared(); }

private:
    void check_whole() const {
        if (half_way_)
            throw BrokenModelError(
                "the model is broken: the process was forked while another thread was changing "
                "it. Fork while no thread changes it, or use the start method 'spawn'");
    }
    void release_in_child() noexcept override {
        half_way_ = half_way_ || writing_.load(std::memory_order_relaxed);
        // Their owners do not exist here, so nobody could unlock or destroy them.
        std::construct_at(&gate_);
        std::construct_at(&mutex_);
    }

    std::mutex gate_;
    std::shared_mutex mutex_;
    std::atomic<bool> writing_ = false;
    bool half_way_ = false;  // only ever set in the child of a fork, while it has one thread
};

}  // namespace treethink
