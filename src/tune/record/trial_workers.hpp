#pragma once
#include <string_view>

#include "tune/search/search_space.hpp"

namespace trainrt::tune {

/// Key of [tune.space] that sets the number of ranks of each trial. Without it, all trials have tune.workers ranks.
inline constexpr std::string_view workers_key = "scaling.num_workers";

/// Returns whether trials may have different numbers of ranks.
bool sets_workers(const SearchSpace& space);
/// Returns the maximum number of ranks of a trial: that of workers_key, or `common` if the space does not set it. Throws
/// UsageError with the origin if the values of workers_key are not integers of at least 1.
int max_workers(const SearchSpace& space, int common);
/// Returns the number of ranks of a trial with these values, or `common` if they do not set it.
int workers_of(const Params& params, int common);

}  // namespace trainrt::tune
