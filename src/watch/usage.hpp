#pragma once
#include <cstdint>

namespace trainrt::watch {

/// Resources that a rank's processes have used; -1: unknown.
struct Usage {
  double cpu_s = -1;       ///< CPU time, user and system, in seconds
  std::int64_t rss = -1;   ///< memory now (resident or proportional set size), bytes
  std::int64_t peak = -1;  ///< maximum memory so far, bytes
  std::int64_t read = -1;  ///< bytes read from storage, as the kernel counts them (proc(5), /proc/PID/io: read_bytes)
  std::int64_t written = -1;
};

/// Measures the resources used by this process and all its descendants, running or ended, except for children that their
/// parent does not wait for. Nothing is counted twice: in /proc, the counters of a process include those of its children
/// that ended.
///
/// The memory of several processes is the sum of their proportional set sizes (Pss). Above 16 GiB, the kernel would take
/// too long to compute them; the memory is then the sum of the resident set sizes, in which shared pages count once per
/// process. The peak is the maximum of two values: the peak of any one process, and the sum over all processes at any
/// sample. Must be called by one thread at a time.
class UsageMeter {
 public:
  /// Starts the measurement. `since_s` is the time at which the attempt began (monotonic_seconds()). If the process was
  /// started for this attempt, usage is counted from the start of the process, otherwise from this call.
  explicit UsageMeter(double since_s);
  Usage sample();

 private:
  static Usage count();
  Usage begin_;
  Usage max_;  ///< maximum of each usage value over all samples
};

}  // namespace trainrt::watch
