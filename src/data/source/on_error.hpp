#pragma once
#include "core/options.hpp"

namespace trainrt::data {

/// Whether a [data.NAME] with these keys skips what cannot be read (on_error).
bool skips_errors(const Options& options);

}  // namespace trainrt::data
