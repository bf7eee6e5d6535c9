#include "cli/supervise/restart_message.hpp"

#include <string_view>

namespace trainrt::cli {

namespace {

/// Returns the config key of a limit, or advice on a limit that is not set, in parentheses.
std::string_view key_of(batch::RestartDecision::Limit limit) {
  switch (limit) {
    case batch::RestartDecision::Limit::max_failures:
      return " (failure.max_failures)";
    case batch::RestartDecision::Limit::max_requeues:
      return " (failure.max_requeues)";
    case batch::RestartDecision::Limit::max_no_progress:
      return " (failure.max_no_progress)";
    case batch::RestartDecision::Limit::min_workers:
      return " (scaling.min_workers)";
    case batch::RestartDecision::Limit::no_min_workers:
      return " (scaling.min_workers = N and sbatch --no-kill would let the run continue with fewer ranks)";
    case batch::RestartDecision::Limit::none:
      break;
  }
  return {};
}

}  // namespace

std::string restart_message(const batch::RestartDecision& decision) {
  auto text = decision.why + std::string(key_of(decision.limit));
  if (!decision.advice.empty()) text += ". " + decision.advice;
  return text;
}

}  // namespace trainrt::cli
