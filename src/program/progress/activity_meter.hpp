#pragma once
#include <cstdint>

#include <sys/types.h>

namespace trainrt::program {

/// Detects from outside whether a program is active: it prints, or its processes use more than one percent of a core (less
/// may be threads that only poll a clock). Time during which this process did not run (SIGSTOP, a suspended job) does not
/// count.
class ActivityMeter {
 public:
  /// `limit_s`: idle time after which the program counts as idle; 0 disables the meter.
  ActivityMeter(pid_t program, double limit_s);

  /// Returns whether the program has been idle for the limit. Measures at most once per interval, so call it often.
  /// `printed`: number of bytes that the program has printed so far.
  bool is_idle(std::uint64_t printed);
  double quiet_s() const { return quiet_s_; }  ///< idle time in seconds at the last measurement

 private:
  long ticks() const;

  pid_t program_;
  double limit_s_;
  double interval_s_;
  double measured_at_s_;
  double quiet_s_ = 0;
  std::uint64_t printed_ = 0;
  long ticks_ = 0;  ///< CPU time of all processes when the program was last active
};

}  // namespace trainrt::program
