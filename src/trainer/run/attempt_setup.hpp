#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rundir/attempts/meter.hpp"
#include "trainer/records/attempt_recorder.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/rank_resources.hpp"
#include "watch/start_watch.hpp"

namespace trainrt::trainer {

/// The arguments of run() as one object, for the functions that execute an attempt.
struct RunArguments {
  const config::RunSpec& spec;
  const TrainCall& function;
  launch::Launch& launch;
  Communicator& communicator;
};

/// The values and objects that an attempt needs before its Session is constructed. All ranks have equal values, except
/// for members that exist only on rank 0.
struct AttemptSetup {
  /// Ends the job step if the start of the attempt hangs. Destroyed before the train function is called.
  std::optional<watch::StartWatch> start_watch;
  Preparation found;
  std::vector<std::string> nodes;  ///< result of node_names()
  RankResources resources;
  int number = 0;  ///< number of the attempt
  std::string run_id;
  int workers = 0;  ///< number of workers of a global batch; 0: one worker per rank
  EarlierCheckpoints earlier;
  NodeShares shares;
  Callbacks callbacks;
  std::unique_ptr<AttemptRecorder> records;  ///< on rank 0
  std::unique_ptr<CheckpointMirror> mirror;  ///< set on rank 0 if the config has checkpoint.mirror; otherwise nullptr
};

/// Finds the run of the config, and restores a missing run directory from the mirror. Returns false if the run has finished
/// and needs no further attempt. Collective.
bool find_unfinished_run(const RunArguments& run, AttemptSetup& setup);

/// Creates the run directory if necessary, claims the run directory for a new attempt, and sets those members of `setup`
/// that find_unfinished_run() has not set. `meter` must outlive `setup`. Collective.
void claim_run(const RunArguments& run, rundir::Meter& meter, AttemptSetup& setup);

}  // namespace trainrt::trainer
