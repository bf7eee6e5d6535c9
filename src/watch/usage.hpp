#pragma once
#include <cstdint>

namespace trainrt::watch {

/// What a rank has used; -1 = not known.
struct Usage {
  double cpu_s = -1;      ///< user and system time
  std::int64_t rss = -1;  ///< bytes of memory now
  std::int64_t peak = -1;
  std::int64_t read = -1;  ///< bytes of storage, as the kernel counts them (proc(5), /proc/PID/io: read_bytes)
  std::int64_t written = -1;
};

/// Measures what this process uses, with the processes that it starts and those that they start, whether they
/// have ended or not (one that ends without its parent asking for its exit code is lost). Nothing counts twice: /proc has
/// in a process's own numbers those of its children that have ended.
///
/// Memory of several processes is the sum of their proportional parts (Pss). Above 16 GiB, which would take the kernel too
/// long, it is that of their resident sets: pages that they share then count in each. The peak is the most that one process
/// had at any time, or that all had together at a look, whichever is more.
/// One thread at a time.
class UsageMeter {
 public:
  /// From now on; or from the start of the process on, if it began at `since_s` (monotonic_seconds()): a program may have
  /// been started before its attempt began.
  explicit UsageMeter(double since_s);
  Usage look();

 private:
  static Usage count();
  Usage begun_;
  Usage most_;
};

}  // namespace trainrt::watch
