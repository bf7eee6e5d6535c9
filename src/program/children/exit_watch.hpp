#pragma once
#include <atomic>
#include <thread>

#include <sys/types.h>

namespace trainrt::program {

/// Records the time at which a child process exits, in a thread of its own, while the train thread may be blocked. It does
/// not reap the child. Destroy it after the child has exited and before the child's pid can be reused.
class ExitWatch {
 public:
  explicit ExitWatch(pid_t child);
  ~ExitWatch();  ///< waits until the child exits
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

  /// Returns the seconds since the child exited; 0 while it runs. Any thread may call it.
  double age_s() const;

 private:
  std::atomic<double> exited_at_s_ = -1;  ///< by the steady clock; negative while the child runs
  std::thread thread_;                    ///< declared last because it uses the other member
};

}  // namespace trainrt::program
