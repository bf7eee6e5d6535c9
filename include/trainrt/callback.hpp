#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <trainrt/export.hpp>
#include <trainrt/result.hpp>

namespace trainrt {

/// The run and attempt that a callback is notified of at the start.
struct RunInfo {
  std::string run_name;
  std::string run_dir;
  int attempt = 0;  ///< number of times that the run was started, this time included
  int world_size = 1;
  int node_count = 1;
};

/// The failure of an attempt that a callback is notified of.
struct RunFailure {
  int rank = -1;      ///< the rank that failed alone; -1 if all ranks failed together
  std::string node;   ///< node of that rank
  std::string error;  ///< the error in one line, as in error.txt
  int attempt = 0;
  std::int64_t step = 0;  ///< last completed step
  int told_rank = 0;      ///< the rank on which the callback is called
};

/// A user's object that is notified of events in a run: start, reports, checkpoints, failure and end (Ray: Callback).
///
/// Register it in RunConfig::callbacks, or write a plug-in in src/trainer/callbacks that run.callbacks names.
///
/// Threads: the functions are called on rank 0 only, on the thread of the train function; on_failure() differs, see there.
/// The other ranks wait meanwhile, at their next collective call of Context: start long work here, and do it in another
/// thread. A callback must not use the communicator.
///
/// Errors: an exception fails the run on all ranks, with a message that names the callback. One from on_failure() is only
/// logged.
class TRAINRT_API Callback {
 public:
  virtual ~Callback();
  /// Returns the callback's name for messages; by default the name of its type.
  virtual std::string name() const;
  /// Returns whether on_report() gets the metrics of each rank, which are then gathered at every report. Called once,
  /// before on_start().
  virtual bool wants_all_ranks() const { return false; }

  /// Called before the train function.
  virtual void on_start(const RunInfo& /*info*/) {}
  /// Called after a report is written. `metrics` is the combined report, as in result.json. `of_ranks` has the metrics of
  /// each rank, in rank order, if wants_all_ranks() returned true; otherwise it is empty.
  virtual void on_report(const ReportedMetrics& /*metrics*/, std::span<const ReportedMetrics> /*of_ranks*/) {}
  /// Called after a checkpoint is committed. Its files are complete, and remain until checkpoint.num_to_keep removes them.
  virtual void on_checkpoint(const ResultCheckpoint& /*checkpoint*/) {}
  /// Called when the attempt has failed, at most once per attempt and rank.
  ///
  /// If all ranks failed together, it is called on all of them. If one rank failed alone, it is called on that rank and on
  /// rank 0. On rank 0 it then runs in a separate thread, but never while another function of this callback runs, and the
  /// processes end after it has returned, at most 5 s later. It is not called on other ranks, nor on rank 0 if that is
  /// killed or does not see the notice on its storage in time. A killed rank makes no call; the ranks that wait for it
  /// fail in turn and call it, unless their launcher ends them before.
  virtual void on_failure(const RunFailure& /*failure*/) {}
  /// Called after the train function has ended and everything is saved; result.state is "finished" or "stopped".
  virtual void on_finish(const Result& /*result*/) {}
};

}  // namespace trainrt
