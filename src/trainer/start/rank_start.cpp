#include "trainer/start/rank_start.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "comm/gpus.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "trainer/ending/advice.hpp"
#include "watch/start_watch.hpp"

namespace trainrt::trainer {

namespace {

/// The deepest folder of a path that is there already.
std::string deepest_folder(std::filesystem::path path) {
  std::error_code error;
  while (path.has_relative_path() && !std::filesystem::is_directory(path, error)) path = path.parent_path();
  return path.string();
}

std::string launched(int ranks) { return fmt::format("{} rank{} launched", ranks, ranks == 1 ? " was" : "s were"); }

watch::StartTimes start_times_of(const config::RunSpec& spec) {
  return {spec.failure.hang_timeout, spec.failure.launch_timeout_s, spec.failure.storage_timeout_s};
}

ExitCode abort_with(ExitCode code, launch::Launch& launch) {
  wait_for_output_delivery();
  launch.abort(static_cast<int>(code));
  return code;
}

}  // namespace

Prepared prepared(const std::function<config::RunSpec()>& make) {
  Prepared prepared;
  try {
    prepared.spec = make();
  } catch (const Error&) {
    prepared.error = std::current_exception();
  }
  return prepared;
}

launch::LaunchOptions launch_options_of(const Prepared& prepared) {
  launch::LaunchOptions options;
  if (!prepared.spec) return options;
  options.timeout_seconds = prepared.spec->failure.launch_timeout_s;
  options.shared_dir = deepest_folder(prepared.spec->run.storage_path);
  return options;
}

comm::CommOptions comm_options_of(const Prepared& prepared) {
  return prepared.spec ? comm_options_of(*prepared.spec) : comm::CommOptions{};
}

comm::CommOptions comm_options_of(const config::RunSpec& spec) {
  return {.timeout_seconds = spec.failure.collective_timeout_s,
          .backend = spec.scaling.backend,
          .check = spec.scaling.check_collectives,
          .deterministic = spec.scaling.deterministic,
          .gpus_per_worker = spec.scaling.gpus_per_worker};
}

void require_workers(const config::RunSpec& spec, int size) {
  const int promised = spec.scaling.num_workers;
  if (spec.scaling.min_workers > 0) {
    if (size < spec.scaling.min_workers)
      throw UsageError(fmt::format("scaling.min_workers = {}, but {}: start with at least so many",
                                   spec.scaling.min_workers, launched(size)));
    if (promised > 0 && size > promised)
      throw UsageError(fmt::format(
          "scaling.num_workers = {}, but {}: an elastic run takes {} to {} (scaling.min_workers to scaling.num_workers)",
          promised, launched(size), spec.scaling.min_workers, promised));
    return;
  }
  if (promised > 0 && promised != size)
    throw UsageError(fmt::format("scaling.num_workers = {}, but {}: start with srun -n {} or mpiexec -n {}", promised,
                                 launched(size), promised, promised));
}

std::unique_ptr<launch::Launch> find_ranks(const Environment& environment, const launch::LaunchOptions& options) {
  auto launch = launch::discover(environment, options);
  log::set_rank(launch->world().rank, launch->world().size);
  RankZero(launch->world().rank).run(batch::acknowledge_stop_signals);
  return launch;
}

void take_name_of_first(Prepared& prepared, Communicator& communicator) {
  const auto name = communicator.broadcast_text(prepared.spec ? prepared.spec->run.name : "", 0);
  if (prepared.spec && prepared.spec->run.is_name_default && !name.empty()) config::rename(*prepared.spec, name);
}

void agree_on_start(const Prepared& prepared, launch::Launch& launch, std::unique_ptr<Communicator>& communicator,
                    const std::function<void()>& prepare) {
  std::optional<watch::StartWatch> start_watch;
  if (prepared.spec) start_watch.emplace(launch, start_times_of(*prepared.spec));
  const auto all = [&] {
    if (prepared.error) std::rethrow_exception(prepared.error);
    require_workers(*prepared.spec, launch.world().size);
    prepare();
  };
  comm::collectively(*communicator, all, with_advice);
  const auto take_gpus = [&] { comm::put_on_gpus(communicator, launch.world(), comm_options_of(prepared)); };
  comm::collectively(*communicator, take_gpus, with_advice);
}

void say_ranks(const World& world, const Communicator& communicator, const std::string& what) {
  log::info(fmt::format("{} rank{} on {} node{} ({}, {}), {}", world.size, world.size == 1 ? "" : "s", world.node_count,
                        world.node_count == 1 ? "" : "s", world.launcher, comm::backend_description(world, communicator),
                        what));
}

ExitCode end_step(launch::Launch& launch) try { throw; } catch (const UsageError& error) {  // of the communicator's opening
  std::this_thread::sleep_for(std::chrono::duration<double>(delay_after_rank0_s(launch.world(), 1)));
  log::error(with_advice(error));
  return abort_with(error.code(), launch);
} catch (const std::exception& error) {
  log::error(with_advice(error));
  return abort_with(ExitCode::failed, launch);
}

}  // namespace trainrt::trainer
