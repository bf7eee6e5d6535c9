#include "trainer/start/rank_command.hpp"

#include <memory>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/start/rank_start.hpp"
#include "watch/crash_report.hpp"

namespace trainrt::trainer {

namespace {

ExitCode execute_connected(RankCommand& command, launch::Launch& launch, LoadedConfig& config) {
  auto communicator = connect_ranks(launch, config);
  share_default_name(config, *communicator);
  try {
    command.share_values(*communicator);
    agree_on_start(config, launch, communicator, [&] { command.prepare(*config.spec, launch.world()); });
    log_ranks(launch.world(), *communicator, command.description(*config.spec));
    watch::install_crash_reports();  // after UCX, MPI and libraries of the train function, which may install handlers
    const auto code = command.execute(*config.spec, launch, *communicator);
    fault_point("exit");
    communicator->barrier();
    return code;
  } catch (const comm::AgreedError& error) {
    command.discard_output();
    log::run_error(error.what());
    communicator->barrier();
    return error.code();
  }
}

}  // namespace

ExitCode execute_on_ranks(RankCommand& command, const Environment& environment) {
  batch::install_stop_signals();
  fault_point("start");
  auto config = load_config([&] { return command.load_config(); });
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
