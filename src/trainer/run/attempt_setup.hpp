#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rundir/attempts/meter.hpp"
#include "trainer/records/attempt_recorder.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/run.hpp"
#include "watch/start_watch.hpp"

namespace trainrt::trainer {

/// The arguments of run(), which every step of an attempt uses.
struct RunArguments {
  const config::RunSpec& spec;
  const TrainCall& function;
  launch::Launch& launch;
  Communicator& communicator;
};

/// Everything that an attempt has before its session begins. On all ranks the same, except for the members of rank 0.
struct AttemptSetup {
  /// Ends the job step if the start hangs. Reset before the train function is called.
  std::optional<watch::StartWatch> start_watch;
  Preparation found;
  std::vector<std::string> nodes;  ///< result of node_names()
  int number = 0;                  ///< number of the attempt
  std::string run_id;
  int workers = 0;  ///< number of workers for which an elastic run makes its global batches; 0: not elastic
  EarlierCheckpoints earlier;
  NodeShares shares;
  Callbacks callbacks;
  std::unique_ptr<AttemptRecorder> records;  ///< on rank 0
  std::unique_ptr<CheckpointMirror> mirror;  ///< on rank 0, if checkpoint.mirror is set
};

/// Finds the run of the config, or restores it from its mirror. Returns false if the run has finished and needs no further
/// attempt. Collective.
bool find_unfinished_run(const RunArguments& run, AttemptSetup& setup);

/// Creates the run directory if necessary, claims it for a new attempt, and sets the other members of `setup`. `meter` must
/// outlive `setup`. Collective.
void claim_run(const RunArguments& run, rundir::Meter& meter, AttemptSetup& setup);

}  // namespace trainrt::trainer
