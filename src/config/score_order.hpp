#pragma once
#include <string>
#include <string_view>

#include "config/run_spec.hpp"

namespace trainrt::config {

/// Whether lower or higher values of a metric are better.
enum class Better { unknown, lower, higher };

/// Returns which values are better according to the name of a metric: lower values of "val_loss", higher values of
/// "accuracy". `unknown` for other names.
Better better_by_name(std::string_view metric);

/// Returns a warning if the config does not set checkpoint.score_order, but ranks checkpoints by a metric with a name such
/// as "val_loss" (checkpoint.score_attribute), for which lower values are probably better. The default would then rank the
/// highest values first. Otherwise returns "".
std::string score_order_warning(const RunSpec& spec);

}  // namespace trainrt::config
