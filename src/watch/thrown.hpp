#pragma once
#include <string>

#include "core/process/stack_trace.hpp"

namespace trainrt::watch {

/// Returns the stack of the calling thread at the throw of the exception that is being handled. It is empty if the
/// exception is not one of the last few of the thread, or if the program does not replace __cxa_throw (every throw then
/// walks the stack, without symbols).
StackFrames thrown_at();

/// Returns the type of the exception that is being handled, such as "c10::Error", or "".
std::string thrown_type();

}  // namespace trainrt::watch
