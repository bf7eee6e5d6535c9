#pragma once
#include <vector>

#include "core/options.hpp"

namespace trainrt::data {

/// The keys of every [data.NAME], beside those of its format.
const std::vector<OptionSpec>& common_options();

}  // namespace trainrt::data
