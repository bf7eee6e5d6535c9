#pragma once
#include <vector>

#include "core/options.hpp"

namespace trainrt::data {

/// Returns the keys of every [data.NAME]; each format adds its own.
const std::vector<OptionSpec>& common_options();

/// Returns whether the samples of a [data.NAME] with these keys are divided over the ranks; otherwise each rank has all of
/// them and a position of its own.
bool is_split(const Options& options);

}  // namespace trainrt::data
