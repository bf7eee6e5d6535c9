#pragma once
#include <sys/types.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace trainrt::tune {

/// The process of a trial. It has its own process group and no input, and appends its output to a file. If the process
/// that created this object dies, the trial gets SIGUSR1, which srun forwards, and then saves and stops. The thread
/// that creates the object must outlive it.
class TrialProcess {
 public:
  /// Starts `command` with `variable` added to the environment, and appends its output to the file `output`. Throws Error.
  TrialProcess(const std::vector<std::string>& command, const std::pair<std::string, std::string>& variable,
               const std::string& output);
  /// Kills the process if it is still running.
  ~TrialProcess();
  TrialProcess(const TrialProcess&) = delete;

  /// Waits for the end of the process. Returns its exit code; 128 + N if signal N ended it.
  int wait();
  /// Sends a signal to the process group. Any thread may call.
  void signal(int number);

 private:
  std::atomic<pid_t> pid_ = -1;
};

}  // namespace trainrt::tune
