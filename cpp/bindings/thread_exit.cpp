// thread_exit.cpp - a thread that Python ends at its exit goes to sleep and is not unwound.
//
// While the interpreter shuts down, Python 3.11 to 3.13 call pthread_exit in a daemon thread that asks for the
// GIL, be it in our code or in Python code that we called. The C library then unwinds the stack of the thread.
// In our frames this would run destructors without the GIL, and it would abort the process at the first
// function that is noexcept and at the first catch (...). No check beforehand can prevent it: the shutdown may
// begin between the check and the request.
//
// The unwinder asks the personality routine of every C++ frame what to do, the innermost frame first and
// before anything is destroyed. The linker puts the routine below in the place of the usual one (see
// CMakeLists.txt). It lets the thread sleep until the process ends, which is what Python 3.14 does by itself.
// No lock of a model is held then, because the engine never calls Python under one. Platforms other than Linux
// do not unwind a thread that exits.
#if defined(__linux__)

#include <unistd.h>
#include <unwind.h>

extern "C" {

_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception, _Unwind_Context* frame);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception, _Unwind_Context* frame) {
    while ((actions & _UA_FORCE_UNWIND) != 0) pause();
    return __real___gxx_personality_v0(version, actions, kind, exception, frame);
}

}  // extern "C"

#endif
