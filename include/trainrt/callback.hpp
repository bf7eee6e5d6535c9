#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <trainrt/export.hpp>
#include <trainrt/result.hpp>

namespace trainrt {

/// What a callback learns when the train function is about to be called.
struct RunInfo {
  std::string run_name;
  std::string run_dir;
  int attempt = 0;  ///< starts of the run, this one included
  int world_size = 1;
  int node_count = 1;
};

/// What a callback learns of the end of an attempt that failed.
struct RunFailure {
  int rank = -1;      ///< that failed alone; -1: all ranks together
  std::string node;   ///< of that rank
  std::string error;  ///< what error.txt says, in one line, or all that the ranks agreed on
  int attempt = 0;
  std::int64_t step = 0;  ///< that had been completed
  int told_rank = 0;      ///< where the callback is told
};

/// Is told what happens in a run. Called on rank 0 only, but for on_failure(), on the train thread, while the other ranks
/// wait where they call the Context next: what takes long is started here, and done elsewhere. It must not communicate.
/// What it throws fails the run on all ranks, and names the callback.
///
/// A plug-in of src/trainer/callbacks, which run.callbacks of a config names, and which rank 0 alone has; or an object in
/// RunConfig::callbacks.
class TRAINRT_API Callback {
 public:
  virtual ~Callback();
  /// For messages; by default the name of its type.
  virtual std::string name() const;
  /// Whether on_report() wants what each rank has reported: they are gathered then, at every report. Asked once, before
  /// on_start().
  virtual bool wants_all_ranks() const { return false; }

  virtual void on_start(const RunInfo&) {}
  /// After a report is written: its metrics as result.json has them, and if this callback wants them those that each rank
  /// gave, in rank order (else none).
  virtual void on_report(const ReportedMetrics&, std::span<const ReportedMetrics>) {}
  /// A checkpoint is committed: it is whole, and stays until checkpoint.num_to_keep lets it go.
  virtual void on_checkpoint(const ResultCheckpoint&) {}
  /// The attempt has failed; once an attempt and rank. After a failure of all ranks together it is called on all of them;
  /// after one of a rank alone on that rank, and on rank 0: there by a thread of its own, never while another function of
  /// this callback runs, and the step ends when it has returned, or 5 s later. Other ranks end untold, and so does rank 0
  /// if it is killed or its storage does not show it in time. A rank that is killed tells nothing: the ranks that miss it
  /// fail, and say so, if their launcher lets them. What is thrown here is only said.
  virtual void on_failure(const RunFailure&) {}
  /// The train function has ended, with everything saved, and the result's state is "finished" or "stopped".
  virtual void on_finish(const Result&) {}
};

}  // namespace trainrt
