#include "trainer/records/preparation.hpp"

#include "checkpoint/format/listing.hpp"
#include "checkpoint/load/load.hpp"
#include "comm/agreement.hpp"
#include "config/value_origin.hpp"
#include "io/storage_retry.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/records/own_run.hpp"

namespace trainrt::trainer {

namespace {

std::string required_storage(const config::RunSpec& spec, Communicator& communicator) {
  return rundir::require_shared_storage(spec.run.storage_path, spec.failure.storage_timeout_s, communicator, with_advice);
}

/// Throws AgreedError if the run has no checkpoint and config key run.resume_from_checkpoint names no loadable checkpoint.
/// Collective.
void require_origin(const config::RunSpec& spec, Communicator& communicator) {
  const auto require = [&] {
    if (spec.run.resume_from.empty() || checkpoint::highest_number(spec.run_dir) >= 0) return;
    config::with_origin(spec.given, "run.resume_from_checkpoint",
                        [&] { checkpoint::require_loadable(spec.run.resume_from); });
  };
  comm::collectively_on_first(communicator, require, with_advice);
}

}  // namespace

Preparation prepare_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator, int ranks,
                        const std::function<void()>& bring_back) {
  io::set_storage_timeout(spec.failure.storage_timeout_s);
  use_stores(spec);
  require_own_run(spec, communicator);
  bring_back();
  Preparation found;
  found.datasets = list_datasets(spec, communicator);
  found.there_before = required_storage(spec, communicator);
  found.existing = find_existing_run(spec, function, communicator, ranks);
  if (!found.existing.is_finished) require_origin(spec, communicator);
  return found;
}

void try_storage(const config::RunSpec& spec, Communicator& communicator) {
  io::set_storage_timeout(spec.failure.storage_timeout_s);
  const auto there_before = required_storage(spec, communicator);
  comm::collectively_on_first(communicator, [&] { rundir::remove_made_storage(spec.run.storage_path, there_before); });
}

}  // namespace trainrt::trainer
