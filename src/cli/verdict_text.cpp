#include "cli/verdict_text.hpp"

#include <string_view>

namespace trainrt::cli {

namespace {

using Limit = batch::RestartDecision::Limit;

/// What is added in brackets.
std::string_view note_of(Limit limit) {
  switch (limit) {
    case Limit::max_failures:
      return " (failure.max_failures)";
    case Limit::max_requeues:
      return " (failure.max_requeues)";
    case Limit::max_no_progress:
      return " (failure.max_no_progress)";
    case Limit::min_workers:
      return " (scaling.min_workers)";
    case Limit::no_min_workers:
      return " (scaling.min_workers = N and sbatch --no-kill would let the run go on with the others)";
    case Limit::none:
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
