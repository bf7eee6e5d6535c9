#pragma once
#include <trainrt/export.hpp>
#include <trainrt/train_function.hpp>

namespace trainrt {

/// Throws UsageError if the loaded trainrt library was built with a different binary interface than the program. `headers`
/// is the module_abi of the headers with which the program was compiled. The constructors of Trainer and CheckpointStore
/// call require_abi(). Thread-safe; not collective.
TRAINRT_API void require_abi(int headers);

}  // namespace trainrt
