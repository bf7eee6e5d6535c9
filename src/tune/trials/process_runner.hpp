#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tune/trials/trial_process.hpp"
#include "tune/trials/trial_runner.hpp"

namespace trainrt::tune {

/// Runs each trial in its own processes: a step of a Slurm job, or ranks on this node.
class ProcessRunner : public TrialRunner {
 public:
  /// Returns the command that starts the given number of ranks. The arguments of the run are appended to it.
  using Command = std::function<std::vector<std::string>(int ranks)>;

  explicit ProcessRunner(Command command) : command_(std::move(command)) {}

  int run(const TrialStart& start) override;
  void stop() override;

 private:
  void hold(TrialProcess* process);

  Command command_;
  std::mutex mutex_;
  TrialProcess* process_ = nullptr;
  bool is_stopping_ = false;
};

}  // namespace trainrt::tune
