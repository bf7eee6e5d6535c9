#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <trainrt/export.hpp>
#include <trainrt/result.hpp>

namespace trainrt {

/// The description of the run and its current attempt, the argument of Callback::on_start().
struct RunInfo {
  std::string run_name;
  std::string run_dir;
  int attempt = 0;  ///< number of the current attempt, from 1: how often the run was started
  int world_size = 1;
  int node_count = 1;
};

/// The description of the failure of an attempt, the argument of Callback::on_failure().
struct RunFailure {
  int rank = -1;      ///< the rank that failed, if it failed alone; -1 if all ranks failed together
  std::string node;   ///< node of the rank that failed
  std::string error;  ///< error message in one line, as in error.txt
  int attempt = 0;
  std::int64_t step = 0;  ///< last completed training step
  int told_rank = 0;      ///< the rank on which on_failure() is called
};

/// A user's object that is notified of events in a run: start, reports, checkpoints, failure and end (Ray: Callback).
///
/// Register it in RunConfig::callbacks, or write a plug-in in src/trainer/callbacks that run.callbacks names.
///
/// Threads: all functions except on_failure() are called on rank 0 only, on the thread of the train function. Until a
/// callback returns, the other ranks wait in their next collective call of Context: do long work in another thread. A
/// callback must not use the communicator.
///
/// Errors: an exception of a callback fails the run on all ranks, with a message that names the callback. An exception of
/// on_failure() is only logged.
class TRAINRT_API Callback {
 public:
  virtual ~Callback();
  /// Returns the callback's name for messages; by default the name of its type.
  virtual std::string name() const;
  /// Returns whether on_report() gets the metrics of each rank. If true, every report gathers these metrics on rank 0.
  /// Called once, before on_start().
  virtual bool wants_all_ranks() const { return false; }

  /// Called before the train function is called.
  virtual void on_start(const RunInfo& /*info*/) {}
  /// Called after a report of the train function is written. `metrics` has the metrics combined over the ranks, as in
  /// result.json. `of_ranks` has the metrics of each rank, in rank order, if wants_all_ranks() returned true; otherwise
  /// `of_ranks` is empty.
  virtual void on_report(const ReportedMetrics& /*metrics*/, std::span<const ReportedMetrics> /*of_ranks*/) {}
  /// Called after a checkpoint is committed. The checkpoint's files are complete, and exist until the checkpoint is removed
  /// because of config key checkpoint.num_to_keep.
  virtual void on_checkpoint(const ResultCheckpoint& /*checkpoint*/) {}
  /// Called when the attempt has failed, at most once per attempt and rank. on_failure() is called
  /// - on all ranks, if all ranks failed together;
  /// - on the failed rank and on rank 0, if one rank failed alone. On rank 0 the call then runs in a separate thread, but
  ///   never at the same time as another function of this callback. The processes end when that call has returned, or
  ///   after at most 5 s;
  /// - not on a killed rank. Ranks that wait for the killed rank fail in turn and call on_failure(), unless their launcher
  ///   ends them first.
  ///
  /// A rank that failed alone notifies rank 0 by a file on the shared storage. Rank 0 does not call on_failure() if rank
  /// 0 itself is killed, or if the file does not become visible on rank 0's node in time.
  virtual void on_failure(const RunFailure& /*failure*/) {}
  /// Called after the train function has ended and all checkpoints and metrics are saved. The state in `result` is
  /// "finished" or "stopped".
  virtual void on_finish(const Result& /*result*/) {}
};

}  // namespace trainrt
