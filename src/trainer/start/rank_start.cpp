#include "trainer/start/rank_start.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "comm/comm_error.hpp"
#include "comm/gpus.hpp"
#include "config/program_settings.hpp"
#include "config/run_name.hpp"
#include "config/value_origin.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/saving/memory_copies.hpp"
#include "watch/start_watch.hpp"

namespace trainrt::trainer {

namespace {

/// Returns the deepest folder in `path` that exists.
std::string deepest_folder(std::filesystem::path path) {
  std::error_code error;
  while (path.has_relative_path() && !std::filesystem::is_directory(path, error)) path = path.parent_path();
  return path.string();
}

std::string launched(int ranks) { return fmt::format("{} rank{} launched", ranks, ranks == 1 ? " was" : "s were"); }

watch::StartTimes start_times_of(const config::RunSpec& spec) {
  return {spec.failure.hang_timeout, spec.failure.launch_timeout_s, spec.failure.storage_timeout_s};
}

ExitCode abort_with_code(ExitCode code, launch::Launch& launch) {
  wait_for_output_delivery();
  launch.abort(static_cast<int>(code));
  return code;
}

/// Returns "train.ini:4: scaling.num_workers = 3" or, if the program sets the number, "the program sets
/// scaling.num_workers = 3".
std::string requested_workers(const config::RunSpec& spec) {
  const auto* given = spec.given.find("scaling.num_workers");
  const bool is_of_program = given != nullptr && given->origin == config::origin_of_program;
  return fmt::format("{}scaling.num_workers = {}",
                     is_of_program ? "the program sets " : config::origin_prefix(spec.given, "scaling.num_workers"),
                     spec.scaling.num_workers);
}

void require_elastic_workers(const config::RunSpec& spec, int ranks) {
  const int min = spec.scaling.min_workers, max = spec.scaling.num_workers;
  if (ranks < min)
    throw UsageError(fmt::format("{}scaling.min_workers = {}, but only {}; start at least {} ranks",
                                 config::origin_prefix(spec.given, "scaling.min_workers"), min, launched(ranks), min));
  if (max > 0 && ranks > max)
    throw UsageError(
        fmt::format("{}scaling.num_workers = {}, but {}; start {} to {} ranks (scaling.min_workers to scaling.num_workers)",
                    config::origin_prefix(spec.given, "scaling.num_workers"), max, launched(ranks), min, max));
}

}  // namespace

LoadedConfig load_config(const std::function<config::RunSpec()>& load) {
  LoadedConfig config;
  try {
    config.spec = load();
  } catch (const Error&) {
    config.error = std::current_exception();
  }
  return config;
}

launch::LaunchOptions launch_options_of(const LoadedConfig& config) {
  launch::LaunchOptions options;
  if (!config.spec) return options;
  options.timeout_seconds = config.spec->failure.launch_timeout_s;
  options.shared_dir = deepest_folder(config.spec->run.storage_path);
  return options;
}

comm::CommOptions comm_options_of(const LoadedConfig& config) {
  return config.spec ? comm_options_of(*config.spec) : comm::CommOptions{};
}

comm::CommOptions comm_options_of(const config::RunSpec& spec) {
  return {.timeout_seconds = spec.failure.collective_timeout_s,
          .backend = spec.scaling.backend,
          .check = spec.scaling.check_collectives,
          .deterministic = spec.scaling.deterministic,
          .gpus_per_worker = spec.scaling.gpus_per_worker};
}

void require_workers(const config::RunSpec& spec, int ranks) {
  const bool is_elastic = spec.scaling.min_workers > 0 && !spec.scaling.has_fixed_workers();
  if (is_elastic) return require_elastic_workers(spec, ranks);
  const int expected = spec.scaling.num_workers;
  if (expected > 0 && expected != ranks)
    throw UsageError(fmt::format("{}, but {}: start {} ranks (srun -n {}, mpiexec -n {} or trainrt -n {})",
                                 requested_workers(spec), launched(ranks), expected, expected, expected, expected));
}

std::unique_ptr<launch::Launch> connect_to_launcher(const Environment& environment, const LoadedConfig& config) {
  static_cast<void>(file_for_copies());  // removes the variable before programs are started
  auto launch = launch::discover(environment, launch_options_of(config));
  log::set_rank(launch->world().rank, launch->world().size);
  RankZero(launch->world().rank).run(batch::acknowledge_stop_signals);
  return launch;
}

std::unique_ptr<Communicator> connect_ranks(launch::Launch& launch, const LoadedConfig& config) {
  const auto given = config.spec ? config.spec->given : Options();
  const auto open = [&] { return comm::open_communicator(launch, comm_options_of(config)); };
  auto communicator = config::with_origin<comm::UnknownBackend>(given, "scaling.backend", open);
  batch::install_stop_signals();  // repeated, since MPI_Init may have replaced the handler of SIGUSR1
  return communicator;
}

void share_default_name(LoadedConfig& config, Communicator& communicator) {
  const auto name = communicator.broadcast_text(config.spec ? config.spec->run.name : "", 0);
  if (!config.spec || !config.spec->run.is_name_default || name.empty()) return;
  config::rename(*config.spec, name);
  config.spec->run.continue_with = config::name_option(name);
}

void agree_on_config(const LoadedConfig& config, Communicator& communicator, const std::function<void()>& check) {
  const auto check_all = [&] {
    if (config.error) std::rethrow_exception(config.error);
    check();
  };
  comm::collectively(communicator, check_all, with_advice);
}

void agree_on_start(const LoadedConfig& config, launch::Launch& launch, std::unique_ptr<Communicator>& communicator,
                    const std::function<void()>& check) {
  std::optional<watch::StartWatch> start_watch;
  if (config.spec) start_watch.emplace(launch, start_times_of(*config.spec));
  agree_on_config(config, *communicator, check);
  const auto assign_gpus = [&] { comm::put_on_gpus(communicator, launch.world(), comm_options_of(config)); };
  comm::collectively(*communicator, assign_gpus, with_advice);
}

void log_ranks(const World& world, const Communicator& communicator, const std::string& activity) {
  log::info(fmt::format("{} rank{} on {} node{} ({}, {}), {}", world.size, world.size == 1 ? "" : "s", world.node_count,
                        world.node_count == 1 ? "" : "s", world.launcher, comm::backend_description(world, communicator),
                        activity));
}

ExitCode abort_step(launch::Launch& launch) try { throw; } catch (const UsageError& error) {
  // All ranks may fail with the same error. Other ranks wait, so that rank 0 logs the error first and ends the job step.
  std::this_thread::sleep_for(std::chrono::duration<double>(delay_after_rank0_s(launch.world(), 1)));
  log::error(with_advice(error));
  return abort_with_code(error.code(), launch);
} catch (const std::exception& error) {
  log::error(with_advice(error));
  return abort_with_code(ExitCode::failed, launch);
}

}  // namespace trainrt::trainer
