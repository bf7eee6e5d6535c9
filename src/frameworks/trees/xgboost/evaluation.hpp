#pragma once
#include <string_view>

#include "frameworks/trees/booster.hpp"

namespace trainrt::frameworks::trees {

/// Parses XGBoost's line about a round, such as "[3]\ttrain-logloss:0.5\tvalid-logloss:0.6". Values may be nan and inf.
/// Throws Error for any other text. Pure function.
Evaluation evaluation_from(std::string_view line);

/// Returns whether a higher value of a metric is better. As in the early stopping of XGBoost's Python package, the
/// beginning of the metric's name decides. `metric` is the name without the name of the dataset. `major` is the major
/// version of the library; since version 2, "pre" is maximized. Pure function.
bool is_maximized(std::string_view metric, int major);

}  // namespace trainrt::frameworks::trees
