#pragma once
#include <string>
#include <string_view>

#include "config/run_spec.hpp"

namespace trainrt::config {

/// Which values of a metric are better.
enum class Better { unknown, lower, higher };

/// Returns which values are better according to the name of a metric: lower values of "val_loss", higher values of
/// "accuracy". `unknown` for other names.
Better better_by_name(std::string_view metric);

/// Returns a warning if lower values of checkpoint.score_attribute are better according to its name, and the config does
/// not set checkpoint.score_order, so that the checkpoints with the highest values rank first; else "".
std::string score_order_warning(const RunSpec& spec);

}  // namespace trainrt::config
