#pragma once
#include <string>

#include "core/process/stack_trace.hpp"

namespace trainrt::watch {

/// Where the exception that is being handled was thrown: the frames of the calling thread at that moment. None if it is
/// not one of the thread's last few, or if the program is not linked to look (__cxa_throw is taken over; every throw
/// costs a walk of the stack, without symbols).
StackFrames thrown_at();

/// The type of the exception that is being handled: "c10::Error". "" if there is none.
std::string thrown_type();

}  // namespace trainrt::watch
