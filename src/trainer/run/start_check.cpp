#include "trainer/run/start_check.hpp"

#include <utility>

#include <fmt/format.h>
#include <trainrt/communicators.hpp>
#include <trainrt/context.hpp>

#include "checkpoint/format/listing.hpp"
#include "core/host.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/section/prepare.hpp"
#include "launch/world.hpp"
#include "rundir/attempts/meter.hpp"
#include "rundir/storage/guarded_run.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

namespace {

/// Returns CheckedStart::results.
std::map<std::string, std::string> results_of_keys(const config::RunSpec& spec, const Listings& listings,
                                                   Session& session) {
  std::map<std::string, std::string> results;
  for (const auto& [name, options] : spec.data) {
    const auto& listing = listings.at(name);
    const auto stored = data::in_words(listing.entries.front().content.fields);
    if (!data::requested_steps(options).empty()) {
      const auto dataset = session.dataset(name);
      results[name] = fmt::format("makes {} samples: {}", dataset.size(), data::in_words(dataset.fields()));
      continue;
    }
    const auto read =
        data::in_words(data::needs_preparation(options, listing) ? session.dataset(name).fields()
                                                                 : data::fields_before_fitting(name, options, listing));
    if (read != stored) results[name] = "batches have the fields " + read;
  }
  return results;
}

/// Calls the check of the train function in a Session with one rank, which writes no files. Returns CheckedStart::results.
std::map<std::string, std::string> check_function(const config::RunSpec& spec, const TrainCall& function,
                                                  const Listings& datasets, Communicator& communicator) {
  const World world;
  rundir::Meter meter(monotonic_seconds());
  Callbacks no_callbacks;
  AttemptInfo attempt{.meter = meter, .callbacks = no_callbacks};
  for (const auto& listed : checkpoint::list(spec.run_dir)) attempt.earlier.listed.push_back(listed.number);
  attempt.datasets = datasets;
  attempt.shares = share_datasets(spec, datasets, world, communicator);
  attempt.hosts = {host_name()};
  attempt.is_run = false;
  Session session({.spec = spec, .world = world, .communicator = communicator, .attempt = std::move(attempt)});
  session.prepare_datasets();
  auto results = results_of_keys(spec, datasets, session);
  if (!function.check) return results;
  session.limit_datasets(checked_samples);
  Context context(session);
  function.check(context);
  return results;
}

}  // namespace

CheckedStart check_start(const config::RunSpec& spec, const TrainCall& function) {
  const auto guarded = rundir::guarded_run(spec.run.storage_path, spec.run.name);
  const auto communicator = self_communicator();
  CheckedStart checked;
  checked.found = prepare_run(spec, function.name, *communicator, spec.scaling.num_workers, [] {});
  rundir::remove_made_storage(spec.run.storage_path, checked.found.there_before);
  if (!checked.found.existing.is_finished)
    checked.results = check_function(spec, function, checked.found.datasets, *communicator);
  return checked;
}

}  // namespace trainrt::trainer
