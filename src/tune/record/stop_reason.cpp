#include "tune/record/stop_reason.hpp"

#include <fmt/format.h>

namespace trainrt::tune {

StopReason::StopReason(const Sweep& sweep)
    : scheduler_(sweep.scheduler_kind().title), max_reports_(sweep.scheduler()->max_reports()) {}

std::string StopReason::text(Trial::State state, std::int64_t iterations, const std::string& recorded) const {
  if (state != Trial::State::stopped) return recorded;
  if (max_reports_ && iterations >= *max_reports_) return fmt::format("reached max_t = {}", *max_reports_);
  return fmt::format("stopped early by {} at report {}", scheduler_, iterations);
}

}  // namespace trainrt::tune
