#pragma once
#include <cstdint>

#include <sys/types.h>

namespace trainrt::program {

/// Whether a program does anything that can be seen from outside: prints, or uses CPU time in any of its processes, more
/// than one percent of a core, which threads that only look at a clock may use. Time in which this process itself did not
/// run (SIGSTOP, a suspended job) does not count.
class ActivityMeter {
 public:
  /// `limit_s`: from when on a program counts as idle; 0: never.
  ActivityMeter(pid_t program, double limit_s);

  /// Looks from time to time, when it is called. `printed`: bytes so far. True if there was nothing for the whole limit.
  bool is_idle(std::uint64_t printed);
  double quiet_s() const { return quiet_s_; }  ///< seconds without a sign of life, at the last look

 private:
  long ticks() const;

  pid_t program_;
  double limit_s_;
  double tick_s_;
  double looked_at_s_;
  double quiet_s_ = 0;
  std::uint64_t printed_ = 0;
  long ticks_ = 0;  ///< of all processes, at the last sign of life
};

}  // namespace trainrt::program
