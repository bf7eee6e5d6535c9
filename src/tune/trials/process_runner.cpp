#include "tune/trials/process_runner.hpp"

#include <csignal>

#include "tune/trials/trial_callback.hpp"

namespace trainrt::tune {

int ProcessRunner::run(const TrialStart& start) {
  auto words = command_(start.ranks);
  words.insert(words.end(), start.words.begin(), start.words.end());
  TrialProcess process(words, {trial_variable, start.trial}, start.output);
  hold(&process);
  const auto code = process.wait();
  hold(nullptr);
  return code;
}

void ProcessRunner::hold(TrialProcess* process) {
  const std::lock_guard lock(mutex_);
  process_ = process;
  if (process_ != nullptr && is_stopping_) process_->signal(SIGUSR1);  // the stop was requested before the process started
}

void ProcessRunner::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  if (process_ != nullptr) process_->signal(SIGUSR1);
}

}  // namespace trainrt::tune
