#pragma once
#include <map>
#include <string>

#include "watch/step_times.hpp"

namespace trainrt::watch {

/// Finds out what may slow the calling thread down, between one look and the next. Of Linux: getrusage(2), proc(5), sysfs;
/// what is not there counts as 0.
class NodeLook {
 public:
  /// `root`: of the file system that /proc and /sys are read from, for tests.
  explicit NodeLook(std::string root = "");

  /// What there was since the last look. `closely`: also what takes milliseconds to find out: clock, temperature, NUMA, who
  /// else is on the thread's CPU; of that the first close look only begins.
  NodeFacts look(bool closely);

 private:
  struct Counts {
    double at_s = 0, preempted = 0, major_faults = 0, stolen = 0, all = 0, swapped = 0;
  };
  struct Process {
    std::string name;
    double cpu_s = 0;
  };
  Counts count() const;
  void look_at_cpu(NodeFacts& facts);
  void look_at_others(NodeFacts& facts);
  float remote_memory() const;
  float hottest() const;
  std::map<int, Process> processes_on(int cpu) const;

  std::string root_;
  Counts last_;
  double throttled_ = -1;  ///< times, at the last close look; < 0: there was none
  double others_at_s_ = 0;
  std::map<int, Process> others_;  ///< on the CPU at the last close look, by process number
};

}  // namespace trainrt::watch
