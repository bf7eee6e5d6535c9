#include "rundir/records/next_start.hpp"

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/text/text.hpp"

namespace trainrt::rundir {

namespace {

constexpr double max_launch_s = 120, long_wait_s = 600;

}  // namespace

bool is_expected(const NextStart& next, const std::string& now) {
  return next.requeued || seconds_between(next.time, now) < max_launch_s;
}

std::string in_words(const NextStart& next, int number, const std::string& job_id, const std::string& now) {
  const auto since_s = seconds_between(next.time, now);
  if (next.requeued)
    return fmt::format(
        "attempt {} starts when Slurm starts job {} again (requeued {} ago){}", number, job_id, clock_text(since_s),
        since_s < long_wait_s ? "" : fmt::format("; squeue --job={} shows whether the job still waits", job_id));
  const auto count = next.restart > 0 ? fmt::format(" (restart {} of {})", next.restart, next.max_restarts) : "";
  if (since_s < 0) return fmt::format("attempt {} starts in {:.0f} s{}", number, -since_s, count);
  if (is_expected(next, now)) return fmt::format("attempt {} is starting{}", number, count);
  return fmt::format("attempt {} should have started {} ago{}", number, clock_text(since_s), count);
}

}  // namespace trainrt::rundir
