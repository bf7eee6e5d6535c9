#pragma once
#include <string_view>

namespace trainrt {

/// A function that is called at each fault_point() of this process, on its thread, with the name of the phase.
using FaultHook = void (*)(std::string_view name);

/// Sets the function that fault_point() calls from now on; nullptr removes it. Tests that simulate several ranks in one
/// process use a hook that throws an exception, which stops one of the ranks. Thread-safe.
void set_fault_hook(FaultHook hook);

}  // namespace trainrt
