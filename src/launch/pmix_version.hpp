#pragma once
#include "core/library_version.hpp"

namespace trainrt::launch {

/// Needs no PMIx_Init.
LibraryVersion pmix_version();

}  // namespace trainrt::launch
