#include "trainer/saving/auto_interval.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::trainer {

namespace {

constexpr double min_interval_s = 10;
constexpr double max_interval_s = 3600;
constexpr double first_save_after_s = 60;
constexpr double prior_node_s = 14.0 * 24 * 3600;
constexpr double notable_ratio = 1.25;

bool is_failure(const rundir::AttemptRecord& attempt) {
  const auto is = [&](ExitCode code) { return attempt.exit_code == static_cast<int>(code); };
  return !is(ExitCode::finished) && !is(ExitCode::stopped) && !is(ExitCode::usage);
}

/// Returns a duration as text: "1.2 s", "34 min", "11 h", "16 days".
std::string rough(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / (24 * 3600));
}

}  // namespace

double young_daly_interval(double cost_s, double mtbf_s) {
  const double ratio = cost_s / (2 * mtbf_s);
  if (ratio >= 1) return mtbf_s;
  return std::sqrt(2 * cost_s * mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - cost_s;
}

FailureHistory history_of(std::span<const rundir::AttemptRecord> attempts) {
  FailureHistory history;
  for (const auto& attempt : attempts) {
    if (attempt.end.empty()) continue;
    history.exposure_s += attempt.timing.total_s();
    if (is_failure(attempt)) ++history.failures;
  }
  return history;
}

double expected_mtbf_s(const FailureHistory& history, int nodes) {
  return (history.exposure_s + prior_node_s / std::max(nodes, 1)) / (history.failures + 1);
}

bool AutoInterval::is_due(double since_s, bool has_reported) const {
  if (interval_s_ > 0) return since_s >= interval_s_;
  return has_reported || since_s >= first_save_after_s;
}

std::optional<std::string> AutoInterval::learn(double stall_s, double duration_s, double running_s) {
  cost_s_ = cost_s_ > 0 ? (cost_s_ + stall_s) / 2
                        : stall_s;  // recent saves have more weight, since the speed of a storage changes
  const double mtbf_s = expected_mtbf_s({history_.exposure_s + running_s, history_.failures}, nodes_);
  // The interval is at least the duration of a save. Otherwise the train thread would wait for the previous save.
  const double best_s = std::max(young_daly_interval(cost_s_, mtbf_s), duration_s);
  interval_s_ = std::clamp(best_s, min_interval_s, std::max(max_interval_s, duration_s));
  const bool is_notable = interval_s_ >= notable_ratio * logged_s_ || logged_s_ >= notable_ratio * interval_s_;
  if (logged_s_ > 0 && !is_notable) return std::nullopt;
  logged_s_ = interval_s_;
  return fmt::format(
      "saving a checkpoint every {:.0f} s: a save stops the training for {}, and one failure is expected every {}",
      interval_s_, rough(cost_s_), rough(mtbf_s));
}

}  // namespace trainrt::trainer
