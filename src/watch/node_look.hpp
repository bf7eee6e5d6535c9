#pragma once
#include <map>
#include <optional>
#include <string>

#include "watch/step_times.hpp"

namespace trainrt::watch {

/// Finds out what may slow the calling thread down, between one look and the next. Of Linux: getrusage(2), proc(5), sysfs;
/// what is not there counts as 0.
class NodeLook {
 public:
  /// `root`: of the file system that /proc and /sys are read from, for tests.
  explicit NodeLook(std::string root = "");

  /// What there was since the last look. `closely`: also what takes up to milliseconds to find out: all but preemptions and
  /// page faults. What is counted over time (stolen, swapped, throttled, others on the CPU) is there from the second close
  /// look in a row on.
  NodeFacts look(bool closely);

 private:
  struct ThreadCounts {
    double at_s = 0, preempted = 0, major_faults = 0;
  };
  struct NodeCounts {
    double at_s = 0, stolen = 0, all = 0, swapped = 0, throttled = 0;  ///< ticks; ticks; pages; times
  };
  struct Process {
    std::string name;
    double cpu_s = 0;
  };
  static ThreadCounts count_of_thread();
  NodeCounts count_of_node() const;
  void look_at_node(NodeFacts& facts);
  void look_at_cpu(NodeFacts& facts) const;
  void look_at_others(NodeFacts& facts, double seconds);
  float remote_memory() const;
  float hottest() const;
  std::map<int, Process> processes_on(int cpu) const;

  std::string root_;
  ThreadCounts thread_;
  std::optional<NodeCounts> node_;  ///< at the last look, if that was a close one
  std::map<int, Process> others_;   ///< on the CPU then, by process number
};

}  // namespace trainrt::watch
