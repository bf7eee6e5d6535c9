#pragma once
#include <string>

#include "batch/restart_decision.hpp"

namespace trainrt::cli {

/// Returns the message for a decision: its reason, the config key of the limit that decided, and advice. Pure function.
std::string restart_message(const batch::RestartDecision& decision);

}  // namespace trainrt::cli
