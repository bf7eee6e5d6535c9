#pragma once
#include <vector>

#include "core/options.hpp"

namespace trainrt::data {

/// The keys of every [data.NAME], beside those of its format.
const std::vector<OptionSpec>& common_options();

/// Whether the ranks share the samples of a [data.NAME] with these keys; else each has all of them, and a place of its own.
bool is_split(const Options& options);

}  // namespace trainrt::data
