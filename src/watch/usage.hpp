#pragma once
#include <cstdint>

namespace trainrt::watch {

/// Resources that a rank has used; -1: unknown.
struct Usage {
  double cpu_s = -1;       ///< user and system time
  std::int64_t rss = -1;   ///< memory now, bytes
  std::int64_t peak = -1;  ///< maximum memory, bytes
  std::int64_t read = -1;  ///< bytes from storage, as the kernel counts them (proc(5), /proc/PID/io: read_bytes)
  std::int64_t written = -1;
};

/// Measures the resources of this process and of all its descendants, running or ended, except for children that
/// their parent does not wait for. Nothing counts twice: in /proc a process's own numbers include those of its children
/// that ended.
///
/// The memory of several processes is the sum of their proportional set sizes (Pss). Above 16 GiB, for which the kernel
/// takes too long, it is the sum of their resident sets, in which shared pages count once per process. The peak is the
/// larger of the maximum of one process at any time, and the maximum of all together at a sample. Must be called by one
/// thread at a time.
class UsageMeter {
 public:
  /// Measures from now on. `since_s` is the begin of the attempt (monotonic_seconds()); if the process started at that
  /// time, the meter counts from the start of the process.
  explicit UsageMeter(double since_s);
  Usage sample();

 private:
  static Usage count();
  Usage begin_;
  Usage max_;  ///< of all samples
};

}  // namespace trainrt::watch
