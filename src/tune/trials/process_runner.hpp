#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "tune/trials/trial_process.hpp"
#include "tune/trials/trial_runner.hpp"

namespace trainrt::tune {

/// Runs each trial in its own processes: a step of a Slurm job, or ranks on this node.
class ProcessRunner : public TrialRunner {
 public:
  /// `command` starts the ranks. The arguments of the run are appended to it.
  explicit ProcessRunner(std::vector<std::string> command) : command_(std::move(command)) {}

  int run(const TrialStart& start) override;
  void stop() override;

 private:
  void hold(TrialProcess* process);

  std::vector<std::string> command_;
  std::mutex mutex_;
  TrialProcess* process_ = nullptr;
  bool is_stopping_ = false;
};

}  // namespace trainrt::tune
