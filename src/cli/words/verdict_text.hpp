#pragma once
#include <string>

#include "batch/restart_decision.hpp"

namespace trainrt::cli {

/// A verdict for the user: why, with the config key of the limit that decided, and what to do. Pure.
std::string text_of(const batch::RestartDecision& verdict);

}  // namespace trainrt::cli
