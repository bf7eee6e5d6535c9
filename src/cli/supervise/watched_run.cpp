#include "cli/supervise/watched_run.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/options.hpp"
#include "core/output/log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/opened_run.hpp"
#include "rundir/storage/trust.hpp"

namespace trainrt::cli {

namespace {

void take_number(const rundir::RunRecord& record, const char* key, int& into) {
  const auto found = record.spec.find(key);
  if (found == record.spec.end()) return;
  if (const auto number = parse_integer(found->second)) into = static_cast<int>(*number);
}

}  // namespace

config::RunSpec watched_run(const config::RunSpec& of_config) try {
  auto spec = of_config;
  spec.run_dir = rundir::opened_run(of_config.run_dir);
  if (spec.run_dir == of_config.run_dir) return spec;
  rundir::require_trusted_owner(spec.run_dir, "run.json");  // a file names the directory, and records in it are changed
  const auto record = rundir::read_run_record(spec.run_dir);
  if (!record) return spec;
  spec.run.name = record->name;
  take_number(*record, "failure.max_failures", spec.failure.max_failures);
  take_number(*record, "failure.max_requeues", spec.failure.max_requeues);
  take_number(*record, "failure.exclude_bad_nodes", spec.failure.exclude_bad_nodes);
  take_number(*record, "failure.max_excluded_nodes", spec.failure.max_excluded_nodes);
  take_number(*record, "scaling.num_workers", spec.scaling.num_workers);
  take_number(*record, "scaling.min_workers", spec.scaling.min_workers);
  return spec;
} catch (const std::exception& error) {
  log::warning(std::string("which run the program has opened is not known: ") + error.what());
  return of_config;
}

void let_ranks_tell_run(const config::RunSpec& of_config) {
  setenv("TRAINRT_OPENED", rundir::opened_run_file(of_config.run_dir).c_str(), 1);
}

int number_before(const config::RunSpec& then, int before, const config::RunSpec& now) {
  if (then.run_dir == now.run_dir) return before;
  const auto attempts = rundir::read_attempts(now.run_dir, 1);
  return attempts.empty() ? 0 : std::max(0, attempts.back().number - 1);  // the one that this start has begun
}

}  // namespace trainrt::cli
