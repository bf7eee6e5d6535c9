#pragma once
#include <map>
#include <optional>
#include <string>

#include "watch/step_times.hpp"

namespace trainrt::watch {

/// Measures conditions of the node that may slow the calling thread down, such as CPU frequency, swapping and other
/// processes. Reads getrusage(2), proc(5) and sysfs of Linux; a value that cannot be read counts as 0.
class NodeLoad {
 public:
  /// `root` is the directory that contains /proc and /sys: "" on a real node, a directory with test data in tests.
  explicit NodeLoad(std::string root = "");

  /// Returns the conditions of the node since the previous sample. Without `in_detail` these are only preemptions and page
  /// faults, because the other values take up to milliseconds. Values that are counted over time (stolen, swapped,
  /// throttled, other_share) require two detailed samples in a row.
  NodeFacts sample(bool in_detail);

 private:
  struct ThreadCounts {
    double at_s = 0, preempted = 0, major_faults = 0;
  };
  struct NodeCounts {
    double at_s = 0;             ///< time of the reading, in seconds
    double stolen = 0, all = 0;  ///< CPU time, in clock ticks
    double swapped = 0;          ///< number of pages swapped in
    double throttled = 0;        ///< number of thermal throttling events of the current core
  };
  struct Process {
    std::string name;
    double cpu_s = 0;
  };
  static ThreadCounts count_of_thread();
  NodeCounts count_of_node() const;
  void add_node(NodeFacts& facts);
  void add_cpu(NodeFacts& facts) const;
  void add_others(NodeFacts& facts, double seconds);
  float remote_memory() const;
  float max_celsius() const;
  std::map<int, Process> processes_on(int cpu) const;

  std::string root_;
  ThreadCounts thread_;
  std::optional<NodeCounts> node_;  ///< counters at the previous sample, if it was a detailed one
  std::map<int, Process> others_;   ///< other processes on the CPU at the previous detailed sample, by process ID
};

}  // namespace trainrt::watch
