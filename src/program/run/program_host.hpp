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
#include "program/run/opening.hpp"
#include "program/run/program.hpp"
#include "program/run/running_program.hpp"

namespace trainrt::program {

/// The programs of a start, from the first to the last run that they train in. Only the train thread calls, but for
/// stacks(). All calls are collective but those that say otherwise.
class ProgramHost {
 public:
  /// UsageError as program_function() says.
  explicit ProgramHost(ProgramOptions options);

  /// Whether the programs may open their runs themselves: a tree that is staged comes with one run, and a pattern of
  /// progress is for programs that know nothing of runs.
  bool may_open() const { return options_.stage.source.empty() && !progress_; }
  /// Starts the programs if none run, and waits until they show which run is to be opened.
  Opening next_opening(const ProgramPlace& place, Communicator& communicator, std::function<bool()> is_stop_asked);
  /// Answers a request: that run has finished already. Not collective.
  void answer_finished(const ProgramPlace& place, const RequestedRun& run);
  bool is_running() const { return running_ != nullptr; }
  /// The run of the last train() is closed, and its program waits for the answer. Not collective.
  bool is_between_runs() const { return is_between_runs_; }
  /// Answers that the run is closed. Not collective.
  void answer_closed();

  /// In an attempt of a run: starts the programs if none run, and serves them until they end, or close the run.
  void train(Context& ctx);
  /// Any thread; not collective.
  std::string stacks() { return stacks_.ask(); }
  /// Returns when the program of this rank was started, or later opened its newest run, by monotonic_seconds(); < 0: none
  /// was started. Any thread; not collective.
  double ready_s() const { return ready_s_.load(std::memory_order_relaxed); }
  /// The last collective call of the program: "report() at train.py:12"; "" if there was none. Any thread; not collective.
  std::string last_call() const { return stacks_.last_call(); }

 private:
  void start(const ProgramPlace& place, Communicator& communicator, const ProgramOptions& options,
             const std::string& executable);
  Descriptor next_input(int rank);
  void serve(Context& ctx, const ProgramOptions& options, const std::string& executable);
  void become_ready();

  ProgramOptions options_;
  Frameworks frameworks_;
  std::optional<ProgressPattern> progress_;
  LiveStacks stacks_;
  int starts_ = 0;
  ProgramInput input_;
  std::shared_ptr<ProgressWatch> progress_watch_;  ///< of the program that runs; rank 0's
  std::unique_ptr<RunningProgram> running_;
  bool is_between_runs_ = false;
  std::atomic<double> ready_s_ = -1;
};

}  // namespace trainrt::program
