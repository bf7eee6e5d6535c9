#pragma once
#include <span>

#include "core/options.hpp"

namespace trainrt::config {

/// Every key of a config outside [loop], [stop] and [data.NAME].
std::span<const OptionSpec> run_options();

}  // namespace trainrt::config
