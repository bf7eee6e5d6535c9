#include "trainer/predictions/prediction.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/meter.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/datasets/node_shares.hpp"
#include "trainer/predictions/predictions_impl.hpp"
#include "trainer/run/hang_setup.hpp"
#include "trainer/session/session.hpp"
#include "trainer/start/node_names.hpp"
#include "watch/crash_report.hpp"
#include "watch/exit_guard.hpp"

namespace trainrt::trainer {

void predict(const config::RunSpec& spec, const PredictionJob& job, launch::Launch& launch, Communicator& communicator) {
  const auto& world = launch.world();
  io::set_storage_timeout(spec.failure.storage_timeout_s);
  auto listings = list_datasets(spec, communicator);
  auto shares = share_datasets(spec, listings, world, communicator);
  rundir::Meter meter(monotonic_seconds());
  Callbacks no_callbacks;
  AttemptInfo attempt{.meter = meter, .callbacks = no_callbacks};
  attempt.datasets = std::move(listings);
  attempt.shares = std::move(shares);
  attempt.hosts = hosts_of_ranks(world, node_names(world, communicator));
  attempt.is_run = false;
  Session session({.spec = spec, .world = world, .communicator = communicator, .attempt = std::move(attempt)});
  const watch::CrashScope crash_scope({}, 0, world.rank, session.life(), end_of_step_after_crash(launch));
  const watch::ExitGuard guard(launch);
  session.prepare_datasets(job.checkpoint.path);
  Context context(session);
  PredictionsImpl impl(job, context, spec.failure.storage_timeout_s);
  Predictions predictions(impl);
  try {
    job.predict(context, predictions);
    impl.end();
  } catch (const StopRun&) {  // all ranks throw at the same stop_point()
    throw comm::AgreedError("stopped: no output was written");
  }
}

}  // namespace trainrt::trainer
