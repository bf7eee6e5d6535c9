#pragma once
#include "watch/step_times.hpp"

namespace trainrt::watch {

/// Finds out what may slow the calling thread down, between one look and the next. Of Linux: getrusage(2), /proc/stat,
/// sysfs; what is not there counts as 0.
class NodeFacts {
 public:
  /// Fills in what there was since the last look. `with_clock`: the CPU's too, which takes milliseconds on some machines.
  void look(WindowTimes& window, bool with_clock);

 private:
  struct Counts {
    double at_s = 0, preempted = 0, major_faults = 0, stolen = 0, all = 0;
  };
  static Counts count();
  Counts last_ = count();
};

}  // namespace trainrt::watch
