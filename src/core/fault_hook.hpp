#pragma once
#include <string_view>

namespace trainrt {

/// A function that is called at each fault_point() of this process, on its thread, with the name of the phase.
using FaultHook = void (*)(std::string_view name);

/// Sets the function that fault_point() calls from now on; nullptr: none. For tests that simulate several ranks in one
/// process, and stop one of them by an exception that `hook` throws. Thread-safe.
void set_fault_hook(FaultHook hook);

}  // namespace trainrt
