#pragma once
#include <string>

#include "core/process/stack_trace.hpp"

namespace trainrt::watch {

/// Returns the stack of the calling thread at the point where the exception that is being handled was thrown. The stack
/// is empty if the exception is not one of the last few of the thread, or if the program does not replace __cxa_throw.
/// With the replacement, every throw walks the stack, without resolving symbols.
StackFrames thrown_at();

/// Returns the type name of the exception that is being handled, such as "c10::Error"; "" if it is unknown.
std::string thrown_type();

}  // namespace trainrt::watch
