#include "cli/supervise/supervised_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "core/restart_help.hpp"
#include "io/files/fenced_directory.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/attempts/repeated_error.hpp"
#include "rundir/records/rank_status.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/opened_run.hpp"
#include "rundir/storage/run_directory.hpp"
#include "rundir/storage/trust.hpp"
#include "trainer/records/same_bits.hpp"
#include "trainer/start/global_batch.hpp"

namespace trainrt::cli {

namespace {

/// Sets `value` to the integer that the record of a run has for the config key `key`, if it has one.
void apply_recorded(const rundir::RunRecord& record, const char* key, int& value) {
  const auto found = record.spec.find(key);
  if (found == record.spec.end()) return;
  if (const auto number = parse_integer(found->second)) value = static_cast<int>(*number);
}

/// Returns whether ranks of the newest attempt with recorded rank statuses used GPUs.
bool used_gpus(const std::string& run_dir) {
  const auto attempts = rundir::read_attempts(run_dir, rundir::max_recent_attempts);
  for (const auto& attempt : attempts | std::views::reverse) {
    const auto statuses = rundir::read_rank_statuses(run_dir, attempt.number);
    if (std::ranges::none_of(statuses, [](const auto& status) { return status.has_value(); })) continue;
    return std::ranges::any_of(
        statuses, [](const auto& status) { return status && (status->gpu || status->gpu_mean || status->gpu_memory); });
  }
  return false;
}

/// Returns whether the ranks may train on GPUs. Fewer GPUs then require fewer ranks, because two ranks cannot share a
/// GPU in a collective of NCCL.
bool uses_gpus(const config::RunSpec& spec) {
  if (const auto number = parse_integer(spec.scaling.gpus_per_worker)) return *number > 0;
  const auto environment = Environment::of_process();
  return environment.text("SLURM_JOB_GPUS") || environment.text("SLURM_GPUS_ON_NODE") || used_gpus(spec.run_dir);
}

/// Returns whether the Slurm job is heterogeneous, or the user's options of srun set the number of tasks.
bool job_sets_tasks() {
  const auto environment = Environment::of_process();
  if (environment.number("SLURM_HET_SIZE").value_or(0) > 1) return true;
  std::istringstream options(environment.text("TRAINRT_SRUN_ARGS").value_or(""));
  for (std::string option; options >> option;)
    if (option.starts_with("-n") || option.starts_with("--ntasks") || option.starts_with("--het-group")) return true;
  return false;
}

config::RunSpec spec_of_opened_run(const config::RunSpec& config) try {
  auto spec = config;
  spec.run_dir = rundir::opened_run(config.run_dir);
  const bool is_run_of_config = spec.run_dir == config.run_dir;
  if (is_run_of_config && !rundir::has_opened_run(config.run_dir)) return spec;
  // The owner of the directory must be trusted, because its path was read from a file, and this process changes records
  // in it.
  rundir::require_trusted_owner(spec.run_dir, "run.json");
  const auto record = rundir::read_run_record(spec.run_dir);
  if (!record || (is_run_of_config && !record->opened_by_program)) return spec;
  spec.run.name = record->name;
  const bool is_named_by_program = record->name != config.run.name && !record->name.starts_with(config.run.name + "-");
  if (is_named_by_program) spec.run.continue_with.clear();
  apply_recorded(*record, "failure.max_failures", spec.failure.max_failures);
  apply_recorded(*record, "failure.max_requeues", spec.failure.max_requeues);
  apply_recorded(*record, "failure.exclude_bad_nodes", spec.failure.exclude_bad_nodes);
  apply_recorded(*record, "failure.max_excluded_nodes", spec.failure.max_excluded_nodes);
  apply_recorded(*record, "scaling.num_workers", spec.scaling.num_workers);
  apply_recorded(*record, "scaling.min_workers", spec.scaling.min_workers);
  if (const auto found = record->spec.find("scaling.on_resize"); found != record->spec.end())
    spec.scaling.on_resize_key = found->second == "same_bits" ? config::OnResize::same_bits : config::OnResize::keep_batch;
  return spec;
} catch (const std::exception& error) {
  log::warning(fmt::format("cannot read which run the program has opened: {}", error.what()));
  return config;
}

}  // namespace

SupervisedRun::SupervisedRun(config::RunSpec config) : config_(std::move(config)), spec_(spec_of_opened_run(config_)) {}

void SupervisedRun::begin_start(int failures) {
  number_before_ = newest_number();
  setenv(failures_variable, std::to_string(failures).c_str(), 1);
  setenv(opened_variable, rundir::opened_run_file(config_.run_dir).c_str(), 1);
}

void SupervisedRun::end_start() {
  const auto earlier = std::exchange(spec_, spec_of_opened_run(config_));
  if (earlier.run_dir != spec_.run_dir) number_before_ = std::max(0, newest_number() - 1);
}

int SupervisedRun::newest_number() const {
  const auto attempts = rundir::read_attempts(spec_.run_dir, 1);
  return attempts.empty() ? 0 : attempts.back().number;
}

std::optional<rundir::AttemptRecord> SupervisedRun::begun_attempt() const {
  auto attempts = rundir::read_attempts(spec_.run_dir, 1);
  if (attempts.empty() || attempts.back().number <= number_before_) return std::nullopt;
  return std::move(attempts.back());
}

bool SupervisedRun::is_of_other_start() const {
  const auto attempts = rundir::read_attempts(spec_.run_dir, 1);
  return !attempts.empty() && rundir::attempt_is_alive(spec_.run_dir, attempts.back());
}

int SupervisedRun::restarts_by_ranks() const { return std::max(0, newest_number() - number_before_ - 1); }

bool SupervisedRun::is_silent() const { return rundir::last_attempt_was_silent(spec_.run_dir); }

bool SupervisedRun::has_checkpoint() const { return checkpoint::highest_number(spec_.run_dir) >= 0; }

bool SupervisedRun::is_permanent() const {
  const auto attempt = begun_attempt();
  return attempt && attempt->is_permanent;
}

std::string SupervisedRun::repeated_mistake() const {
  const auto attempt = begun_attempt();
  return attempt && !attempt->is_permanent ? rundir::repeated_mistake(spec_.run_dir) : "";
}

std::string SupervisedRun::again_with() const {
  return spec_.run.continue_with.empty() ? "" : " with " + spec_.run.continue_with;
}

int SupervisedRun::fixed_workers(const std::string& job_id) const {
  const auto& scaling = spec_.scaling;
  if (!scaling.has_fixed_workers()) return 0;
  const bool is_default = !scaling.requires_fixed_workers();
  if (is_default && (job_sets_tasks() || uses_gpus(spec_))) return 0;
  if (!is_default && scaling.num_workers > 0) return scaling.num_workers;
  try {
    const auto record = rundir::read_run_record(spec_.run_dir);
    const bool is_of_job = is_default && !has_checkpoint();
    const int workers = is_of_job ? ranks_in_job(job_id) : record ? trainer::workers_of_run(spec_.run_dir, *record) : 0;
    const bool is_contradicted = is_default && scaling.num_workers > 0 && scaling.num_workers != workers;
    return is_contradicted ? 0 : workers;  // the ranks report a contradiction
  } catch (const std::exception&) {
    return 0;  // the ranks report the error
  }
}

/// Returns the number of ranks of the newest attempt, if it belongs to the Slurm job `job_id`; otherwise 0.
int SupervisedRun::ranks_in_job(const std::string& job_id) const {
  const auto attempts = rundir::read_attempts(spec_.run_dir, 1);
  return attempts.empty() || attempts.back().owner.job_id != job_id ? 0 : attempts.back().ranks;
}

int SupervisedRun::max_workers_per_node() const {
  if (!spec_.scaling.has_fixed_workers()) return 0;
  const auto used = trainer::recorded_memory(spec_.run_dir);
  if (used.max_peak <= 0) return 0;
  const auto fitting = memory_limit() / static_cast<std::uint64_t>(used.max_peak);
  constexpr std::uint64_t max = 1'000'000;
  return std::max(used.max_per_node, static_cast<int>(std::min(fitting, max)));
}

bool SupervisedRun::has_finished() const {
  try {
    const auto record = rundir::read_run_record(spec_.run_dir);
    return record && record->state == rundir::RunState::finished;
  } catch (const std::exception&) {
    return false;
  }
}

void SupervisedRun::announce_restart(const batch::RestartDecision& decision, int failures) const {
  const bool counts = decision.limit == batch::RestartDecision::Limit::max_failures;
  rundir::announce_start(spec_.run_dir, rundir::NextStart{.time = utc_before(-decision.wait_s),
                                                          .restart = counts ? failures : 0,
                                                          .max_restarts = counts ? spec_.failure.max_failures : 0});
}

void SupervisedRun::announce_requeue() const {
  rundir::announce_start(spec_.run_dir, rundir::NextStart{.time = utc_now(), .requeued = true});
}

void SupervisedRun::retract_restart() const { rundir::announce_start(spec_.run_dir, std::nullopt); }

void SupervisedRun::record_end(rundir::RunState state) const {
  try {
    auto record = rundir::read_run_record(spec_.run_dir);
    if (!record || record->state != rundir::RunState::running || is_of_other_start()) return;
    record->state = state;
    // Writes through the private directory of the killed attempt. The write fails if a newer attempt has begun.
    const auto attempt_directory = rundir::private_directory(spec_.run_dir, newest_number());
    rundir::write_run_record(io::FencedDirectory(spec_.run_dir, attempt_directory), *record);
  } catch (const std::exception& error) {
    log::warning(fmt::format("cannot record the state of the run: {}", error.what()));
  }
}

}  // namespace trainrt::cli
