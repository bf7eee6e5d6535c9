#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "checkpoint/format/listing.hpp"
#include "comm/timed_communicator.hpp"
#include "trainer/session/observation.hpp"
#include "trainer/session/progress.hpp"
#include "trainer/session/restoring.hpp"
#include "trainer/session/saving.hpp"
#include "unit/trainer/runs.hpp"

namespace trainrt::test {

/// The objects that a Session owns, on one rank of an attempt. The run has no datasets and no records of attempts.
struct AttemptParts {
  /// Precondition: the private directory of the attempt exists.
  AttemptParts(const config::RunSpec& spec_, const World& world, Communicator& inner, trainer::AttemptInfo info_)
      : spec(spec_),
        communicator(inner),
        info(std::move(info_)),
        stops(spec, nullptr),
        datasets(spec, communicator, 0, info.datasets, info.shares),
        progress(spec.run.seed, info.meter, communicator),
        observation({.spec = spec,
                     .communicator = communicator,
                     .attempt = info,
                     .progress = progress,
                     .datasets = datasets,
                     .stops = stops}),
        restoring({.spec = spec,
                   .communicator = communicator,
                   .progress = progress,
                   .datasets = datasets,
                   .run_id = "",
                   .private_dir = info.private_dir,
                   .checkpoints = info.earlier.listed}),
        saving({.spec = spec,
                .world = world,
                .attempt = info,
                .communicator = communicator,
                .progress = progress,
                .observation = observation,
                .stops = stops,
                .datasets = datasets}) {}

  config::RunSpec spec;
  comm::TimedCommunicator communicator;
  trainer::AttemptInfo info;
  trainer::StopReasons stops;
  trainer::RunDatasets datasets;
  trainer::Progress progress;
  trainer::Observation observation;
  trainer::Restoring restoring;
  trainer::Saving saving;
};

/// Calls `work` on `size` ranks with the objects of an attempt, which begins with the checkpoints that exist. `callback` is
/// called on rank 0.
inline void with_attempt_parts(int size, config::RunSpec spec, const std::function<void(AttemptParts&)>& work,
                               const std::shared_ptr<Callback>& callback = nullptr) {
  spec.data.clear();
  const auto numbers = checkpoint::numbers_in(spec.run_dir);
  const auto private_dir = spec.run_dir + "/attempt-test";
  std::filesystem::create_directories(private_dir);
  run_launched(size, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    rundir::Meter meter(0);
    trainer::Callbacks callbacks(spec, {launch.world().rank == 0 ? callback : nullptr}, launch.world().rank);
    if (callback) callbacks.set_presence({.any = true, .all_ranks = false, .may_stop = true});
    AttemptParts parts(spec, launch.world(), *communicator,
                       {.private_dir = private_dir,
                        .meter = meter,
                        .callbacks = callbacks,
                        .earlier = {.listed = numbers, .next = numbers.empty() ? 0 : numbers.back() + 1}});
    work(parts);
    communicator->barrier();
  });
}

}  // namespace trainrt::test
