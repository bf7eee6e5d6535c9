#include "program/progress/activity_meter.hpp"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

#include "core/host.hpp"
#include "core/process/processes.hpp"

namespace trainrt::program {

namespace {

constexpr double busy_share = 0.01;  // CPU use of an active program, as a fraction of one core

}  // namespace

ActivityMeter::ActivityMeter(pid_t program, double limit_s)
    : program_(program),
      limit_s_(limit_s),
      interval_s_(std::clamp(limit_s / 8, 0.1, 30.0)),
      measured_at_s_(monotonic_seconds()) {}

bool ActivityMeter::is_idle(std::uint64_t printed) {
  if (limit_s_ <= 0) return false;
  const double elapsed_s = monotonic_seconds() - measured_at_s_;
  if (elapsed_s < interval_s_) return quiet_s_ > limit_s_;
  measured_at_s_ += elapsed_s;
  quiet_s_ += std::min(elapsed_s, 2 * interval_s_ + 1);
  const auto now = ticks();
  const double used_s = static_cast<double>(std::labs(now - ticks_)) / static_cast<double>(sysconf(_SC_CLK_TCK));
  if (printed != printed_ || used_s > busy_share * quiet_s_) {  // the ticks decrease when a process of the program ends
    printed_ = printed;
    ticks_ = now;
    quiet_s_ = 0;
  }
  return quiet_s_ > limit_s_;
}

long ActivityMeter::ticks() const {
  long sum = 0;
  for (const pid_t process : with_descendants(program_)) sum += cpu_ticks(process);
  return sum;
}

}  // namespace trainrt::program
