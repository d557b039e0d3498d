// model_lock.hpp - the lock of a model, which also knows whether the model is still whole.
//
// A change that fails half-way, because memory runs out, is not undone: that would need a copy of everything. Instead
// the model is broken from then on. Whoever takes its lock gets a BrokenModelError, so nobody predicts with it or
// replaces a good file by it.
#pragma once

#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "fair_mutex.hpp"

namespace treethink {

class ModelLock {
public:
    /// Throws BrokenModelError.
    [[nodiscard]] std::shared_lock<FairMutex> for_reading() const {
        std::shared_lock lock(mutex_);
        check_whole();
        return lock;
    }
    /// Throws BrokenModelError.
    [[nodiscard]] std::unique_lock<FairMutex> for_writing() const {
        std::unique_lock lock(mutex_);
        check_whole();
        return lock;
    }

    /// Calls `change`; the caller holds the lock for writing. If it throws, the model is broken, unless it throws an
    /// Error: input is refused before anything changes. `activity` and `number` say what failed, such as
    /// "learned observation" and 12.
    template <class Change>
    auto guard(char const* activity, std::uint64_t number, Change&& change) {
        try {
            return std::forward<Change>(change)();
        } catch (Error const&) {
            throw;
        } catch (std::bad_alloc const&) {
            failure_ = {"memory ran out", activity, number};
            throw;
        } catch (...) {
            failure_ = {"an error occurred", activity, number};
            throw;
        }
    }

private:
    // Nothing here allocates: it is set when there is no memory.
    struct Failure {
        char const* reason = nullptr;  // null: the model is whole
        char const* activity = nullptr;
        std::uint64_t number = 0;
    };

    void check_whole() const {
        if (failure_.reason == nullptr) return;
        throw BrokenModelError("the model is broken: " + std::string(failure_.reason) + " while it " +
                               failure_.activity + " " + std::to_string(failure_.number) +
                               "; load the last saved file, or start again");
    }

    mutable FairMutex mutex_;
    Failure failure_;
};

}  // namespace treethink
