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

/// Starts the programs of all ranks, and serves them in a single run or in several runs that they request. Unless a
/// comment states otherwise, the functions are collective and only the train thread may call them.
class ProgramHost {
 public:
  /// Throws UsageError for an invalid program, framework or progress pattern, as program_function() does.
  explicit ProgramHost(ProgramOptions options);

  /// Returns whether the programs may request runs. Returns false if there is a staged tree, because it belongs to a
  /// single run, or a progress pattern, because it is for programs without the client. Not collective.
  bool may_open() const { return options_.stage.source.empty() && !progress_; }
  /// Starts the programs unless they are running. Waits until the programs of all ranks show which run they need, and
  /// returns this run. `known` contains the facts about this rank that are known although no run is open yet.
  AwaitedRun next_run(const Rendezvous& known, Communicator& communicator, std::function<bool()> is_stop_asked);
  /// Answers the program's 'open_run': the requested run has already finished. Not collective.
  void answer_finished(const Rendezvous& known, const RequestedRun& run);
  bool is_running() const { return running_ != nullptr; }
  /// Returns whether the last run is closed and the program waits for the answer to 'close_run'. Not collective.
  bool is_between_runs() const { return is_between_runs_; }
  /// Answers the program's 'close_run': the run is closed. Not collective.
  void answer_closed();

  /// Starts the programs unless they are running, and serves the programs until they exit or close the run. The caller
  /// calls this function once per attempt.
  void train(Context& ctx);
  /// Returns the Python stacks of this rank's program. Any thread may call this function; not collective.
  std::string stacks() { return stacks_.collect(); }
  /// Returns the time, by monotonic_seconds(), at which the program of this rank was started, or was last ready to
  /// train. Negative before the start. Any thread may call this function; not collective.
  double ready_s() const { return ready_s_.load(std::memory_order_relaxed); }
  /// Returns the last collective call of this rank's program, "report() at train.py:12"; "" before the first one. Any
  /// thread may call this function; not collective.
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
  std::shared_ptr<ProgressWatch> progress_watch_;  ///< watches the output of the running program; set on rank 0
  std::unique_ptr<RunningProgram> running_;
  bool is_between_runs_ = false;
  std::atomic<double> ready_s_ = -1;
};

}  // namespace trainrt::program
