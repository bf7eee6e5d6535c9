#pragma once
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::config {

/// Returns a warning if checkpoint.score_attribute is the name of a loss and the config does not set
/// checkpoint.score_order, so that the checkpoints with the highest loss rank first; else "".
std::string score_order_warning(const RunSpec& spec);

}  // namespace trainrt::config
