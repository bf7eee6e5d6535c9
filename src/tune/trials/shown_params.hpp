#pragma once
#include <string>

#include "tune/search/search_space.hpp"

namespace trainrt::tune {

/// Returns whether `params` are the values of a space without domains: a Tuner writes `all = 0` into [tune.space], which
/// must not be empty. Pure function.
bool is_without_values(const Params& params);

/// Returns the values of a trial for a message: "lr=0.1, layers=3". For a trial whose searcher runs in the script, reads
/// `suggestions`, the JSON file in which the script has recorded the values; nested values are left out. Returns "" if
/// there are no values.
std::string params_in_words(const Params& params, const std::string& suggestions = "");

}  // namespace trainrt::tune
