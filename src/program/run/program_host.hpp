#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <trainrt/context.hpp>

#include "core/descriptor.hpp"
#include "core/process/program_input.hpp"
#include "program/environments/framework_environment.hpp"
#include "program/progress/live_stacks.hpp"
#include "program/progress/progress_pattern.hpp"
#include "program/progress/progress_watch.hpp"
#include "program/run/await_run.hpp"
#include "program/run/program.hpp"
#include "program/run/running_program.hpp"

namespace trainrt::program {

/// Starts the programs of all ranks, and serves them in one run or in several runs that they request. Functions may be
/// called by the train thread only and are collective, unless their comments state otherwise.
class ProgramHost {
 public:
  /// Throws the errors of program_function().
  explicit ProgramHost(ProgramOptions options);

  /// Returns whether the programs may request runs. They may not with a staged tree, which belongs to one run, or with a
  /// progress pattern, which is for programs without the client. Not collective.
  bool may_open() const { return options_.stage.source.empty() && !progress_; }
  /// Starts the programs unless they are running, and waits until they show which run they need. `known`: facts about this
  /// rank that are known before the run is open.
  AwaitedRun next_run(const Rendezvous& known, Communicator& communicator, std::function<bool()> is_stop_asked);
  /// Answers that the requested run has finished already. Not collective.
  void answer_finished(const Rendezvous& known, const RequestedRun& run);
  bool is_running() const { return running_ != nullptr; }
  /// Returns whether the last run is closed and its program waits for the answer. Not collective.
  bool is_between_runs() const { return is_between_runs_; }
  /// Answers that the run is closed. Not collective.
  void answer_closed();

  /// Starts the programs unless they are running, and serves them until they exit or close the run. Called once per
  /// attempt.
  void train(Context& ctx);
  /// Returns the Python stacks of this rank's program. Any thread; not collective.
  std::string stacks() { return stacks_.collect(); }
  /// Returns the time, by monotonic_seconds(), at which the program of this rank was started or was last ready to train;
  /// negative before the start. Any thread; not collective.
  double ready_s() const { return ready_s_.load(std::memory_order_relaxed); }
  /// Returns the last collective call of the program, "report() at train.py:12"; "" if there was none. Any thread; not
  /// collective.
  std::string last_call() const { return stacks_.last_call(); }

 private:
  void start(Rendezvous known, Communicator& communicator, const ProgramOptions& options, const std::string& executable);
  Descriptor next_input(int rank);
  void serve(Context& ctx, const ProgramOptions& options, const std::string& executable);
  void become_ready();

  ProgramOptions options_;
  Frameworks frameworks_;
  std::optional<ProgressPattern> progress_;
  LiveStacks stacks_;
  int starts_ = 0;
  ProgramInput input_;
  std::shared_ptr<ProgressWatch> progress_watch_;  ///< of the running program; set on rank 0
  std::unique_ptr<RunningProgram> running_;
  bool is_between_runs_ = false;
  std::atomic<double> ready_s_ = -1;
};

}  // namespace trainrt::program
