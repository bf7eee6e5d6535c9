#pragma once
#include <cstdint>

#include <sys/types.h>

namespace trainrt::program {

/// Measures whether a program is active, without its cooperation. A program is active if it prints, or if its processes
/// use more than one percent of a core (threads that only poll a clock may use less). Time during which this process
/// was suspended (SIGSTOP, a suspended job) does not count.
class ActivityMeter {
 public:
  /// `limit_s`: time without activity after which is_idle() returns true; 0 disables the meter.
  ActivityMeter(pid_t program, double limit_s);

  /// Returns whether the program has been inactive for `limit_s`. Call this function often; it measures at most once
  /// per interval. `printed`: number of bytes that the program has printed so far.
  bool is_idle(std::uint64_t printed);
  double quiet_s() const { return quiet_s_; }  ///< time without activity at the last measurement, in seconds

 private:
  long ticks() const;

  pid_t program_;
  double limit_s_;
  double interval_s_;
  double measured_at_s_;
  double quiet_s_ = 0;
  std::uint64_t printed_ = 0;
  long ticks_ = 0;  ///< CPU time of all processes of the program when it was last active
};

}  // namespace trainrt::program
