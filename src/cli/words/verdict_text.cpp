#include "cli/words/verdict_text.hpp"

#include <string_view>

namespace trainrt::cli {

namespace {

/// What is added in brackets.
std::string_view note_of(batch::RestartDecision::Limit limit) {
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
      return " (scaling.min_workers = N and sbatch --no-kill would let the run go on with the others)";
    case batch::RestartDecision::Limit::none:
      break;
  }
  return {};
}

}  // namespace

std::string text_of(const batch::RestartDecision& verdict) {
  auto text = verdict.why + std::string(note_of(verdict.limit));
  if (!verdict.advice.empty()) text += ". " + verdict.advice;
  return text;
}

}  // namespace trainrt::cli
