#pragma once
#include <trainrt/export.hpp>
#include <trainrt/train_function.hpp>

namespace trainrt {

/// Throws UsageError if the trainrt library that is loaded was built with a different binary interface than the program.
/// `headers` is the module_abi of the headers that the program was compiled with. Trainer and CheckpointStore call it. Any
/// thread may call it; not collective.
TRAINRT_API void require_abi(int headers);

}  // namespace trainrt
