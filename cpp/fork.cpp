#include "fork.hpp"

#include <mutex>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace treethink {

namespace {

// Never destroyed: threads may outlive the static objects of a process that exits.
std::mutex& list_mutex() {
    static std::mutex& mutex = *new std::mutex;
    return mutex;
}

ForkAware* first = nullptr;

}  // namespace

/// The list does not change during a fork, so it is whole in the child.
struct ForkHandlers {
    static void before() { list_mutex().lock(); }
    static void in_parent() { list_mutex().unlock(); }
    static void in_child() {
        for (ForkAware* each = first; each != nullptr; each = each->next_) each->release_in_child();
        list_mutex().unlock();
    }
    static bool install() {
#if !defined(_WIN32)
        pthread_atfork(&before, &in_parent, &in_child);
#endif
        return true;
    }
};

ForkAware::ForkAware() {
    static bool const installed = ForkHandlers::install();
    std::lock_guard const lock(list_mutex());
    next_ = installed ? first : nullptr;
    if (next_ != nullptr) next_->previous_ = this;
    first = this;
}

ForkAware::~ForkAware() {
    std::lock_guard const lock(list_mutex());
    (previous_ == nullptr ? first : previous_->next_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

}  // namespace treethink
