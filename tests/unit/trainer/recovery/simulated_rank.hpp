#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/run_spec.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempts/meter.hpp"
#include "support/cpp/simulated_communicator.hpp"
#include "trainer/saving/memory_copies.hpp"
#include "trainer/session/progress.hpp"
#include "trainer/session/restoring.hpp"
#include "unit/trainer/recovery/simulated_model.hpp"

namespace trainrt::test {

/// The parameters of an attempt that all of its ranks share.
struct AttemptSetup {
  config::RunSpec spec;
  std::string run_id = "run";
  int file = -1;  ///< file in memory for copies of the State
  bool grows = false;
  std::string private_dir;
  std::vector<std::int64_t> checkpoints;  ///< numbers of the checkpoints at the start of the attempt
  SimulatedNetwork network;
};

/// The objects of one rank of an attempt, as in a Session. `setup` must outlive them.
struct SimulatedRank {
  SimulatedRank(AttemptSetup& setup, int number)
      : communicator(number, *Simulation::self(), setup.network),
        progress(setup.spec.run.seed, meter, communicator),
        datasets(setup.spec, communicator, 0, listings, shares),
        restoring({.spec = setup.spec,
                   .communicator = communicator,
                   .progress = progress,
                   .datasets = datasets,
                   .run_id = "run",
                   .private_dir = setup.private_dir,
                   .checkpoints = setup.checkpoints}),
        copies(setup.spec, setup.run_id, communicator, setup.file, [] { return Simulation::self()->now_s(); }),
        model(number, communicator.size(), setup.grows) {
    state.append(model.state());
    progress.attach(state);
  }
  SimulatedCommunicator communicator;
  rundir::Meter meter{0};
  trainer::Progress progress;
  trainer::Listings listings;
  trainer::NodeShares shares;
  trainer::RunDatasets datasets;
  trainer::Restoring restoring;
  trainer::MemoryCopies copies;
  SimulatedModel model;
  State state;
  std::optional<metrics::ResultLog> log;  // on rank 0
  int saves = 0;                          // in this attempt
  double loss = 0;                        // of the last report
};

}  // namespace trainrt::test
