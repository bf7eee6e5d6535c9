#pragma once
#include <sys/types.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace trainrt::tune {

/// The program of a trial, in a process group of its own, without input, with its output in a file. If this process dies it
/// gets SIGUSR1, which srun passes on: the run stops and saves. The thread that starts it must live as long.
class TrialProcess {
 public:
  /// Appends to `output`. Throws Error if it cannot be started.
  TrialProcess(const std::vector<std::string>& command, const std::pair<std::string, std::string>& variable,
               const std::string& output);
  /// Kills it if it runs still.
  ~TrialProcess();
  TrialProcess(const TrialProcess&) = delete;

  /// Waits for it: as a shell has it, 128 + N if signal N ended it.
  int wait();
  /// Any thread.
  void signal(int number);

 private:
  std::atomic<pid_t> pid_ = -1;
};

}  // namespace trainrt::tune
