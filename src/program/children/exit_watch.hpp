#pragma once
#include <atomic>
#include <thread>

#include <sys/types.h>

namespace trainrt::program {

/// Records the time at which a child process exits, in a separate thread, even while the train thread is blocked. The
/// thread does not reap the child. The ExitWatch must be destroyed after the child has exited and before the kernel can
/// reuse the child's pid.
class ExitWatch {
 public:
  explicit ExitWatch(pid_t child);
  ~ExitWatch();  ///< waits until the child has exited
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

  /// Returns the seconds since the child exited; 0 while the child runs. Any thread may call this function.
  double age_s() const;

 private:
  std::atomic<double> exited_at_s_ = -1;  ///< time of the exit, by the steady clock; negative before the exit
  std::thread thread_;                    ///< declared last because it uses the other member
};

}  // namespace trainrt::program
