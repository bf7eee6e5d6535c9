#pragma once
#include <vector>

#include "core/options.hpp"

namespace trainrt::data {

/// Returns the keys of every [data.NAME]; each format adds its own.
const std::vector<OptionSpec>& common_options();

/// Returns whether the samples of a [data.NAME] with these keys are divided among the ranks. Otherwise each rank has
/// all samples and its own position.
bool is_split(const Options& options);

}  // namespace trainrt::data
