#include "trainer/start/rank_command.hpp"

#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "comm/agreement.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "core/output/start_report.hpp"
#include "core/rank_zero.hpp"
#include "core/restart_help.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/start/rank_start.hpp"
#include "watch/crash_report.hpp"

namespace trainrt::trainer {

namespace {

/// After an error, logs how to continue the run, if the run has a generated name and checkpoints. Logs nothing under a
/// supervising process, which logs such a message itself.
void log_continuation(const config::RunSpec& spec, const Error& error) {
  const bool is_watched = Environment::of_process().has(failures_variable);
  if (is_watched || spec.run.continue_with.empty() || checkpoint::highest_number(spec.run_dir) < 0) return;
  if (std::string_view(error.what()).find(spec.run.continue_with) != std::string_view::npos) return;
  log::info(fmt::format("the run has checkpoints. To continue it, run the same command {}", config::again(spec.run)));
}

ExitCode execute_connected(RankCommand& command, launch::Launch& launch, LoadedConfig& config) {
  auto communicator = connect_ranks(launch, config);
  share_default_name(config, *communicator);
  auto& report = StartReport::of_process();
  report.end_part("connection of the ranks");
  try {
    command.share_values(*communicator);
    agree_on_start(config, launch, communicator, [&] { command.prepare(*config.spec, launch.world()); });
    report.end_part("load of the train function");
    log_ranks(launch.world(), *communicator, command.description(*config.spec));
    watch::install_crash_reports();  // after UCX, MPI and libraries of the train function, which may install handlers
    const auto code = command.execute(*config.spec, launch, *communicator);
    fault_point("exit");
    communicator->barrier();
    return code;
  } catch (const comm::AgreedError& error) {
    command.discard_output();
    log::run_error(error.what());
    if (config.spec) RankZero(launch.world().rank).run([&] { log_continuation(*config.spec, error); });
    communicator->barrier();
    return error.code();
  }
}

}  // namespace

ExitCode execute_on_ranks(RankCommand& command, const Environment& environment) {
  batch::install_stop_signals();
  fault_point("start");
  auto config = load_config([&] { return command.load_config(); });
  StartReport::of_process().end_part("config");
  std::unique_ptr<launch::Launch> launch;
  try {
    launch = connect_to_launcher(environment, config);
  } catch (const Error& error) {
    // The ranks cannot communicate. Only the process that has rank 0 according to its environment logs the error.
    if (launch::claimed_rank(environment) == 0) log::error(with_advice(error));
    return error.code();
  }
  try {
    const auto code = execute_connected(command, *launch, config);
    launch->finalize();
    return code;
  } catch (const std::exception&) {
    command.discard_output();  // before abort_step(), which may not return
    return abort_step(*launch);
  }
}

}  // namespace trainrt::trainer
