#pragma once
#include <trainrt/export.hpp>
#include <trainrt/train_function.hpp>

namespace trainrt {

/// Throws UsageError if the library that a program meets was built with other public headers than the program: what they
/// hand each other would not fit. `headers`: module_abi, as the program's headers have it. Trainer and CheckpointStore
/// call it.
TRAINRT_API void require_abi(int headers);

}  // namespace trainrt
