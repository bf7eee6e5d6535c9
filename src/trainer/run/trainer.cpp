// The implementation of Trainer, which executes runs in a program with its own main().
#include <trainrt/trainer.hpp>

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "config/launch_settings.hpp"
#include "config/program_settings.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "rundir/storage/opened_run.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/ending/broadcast_result.hpp"
#include "trainer/run/run.hpp"
#include "trainer/start/process_connection.hpp"
#include "trainer/start/rank_start.hpp"
#include "trainer/start/trainer_spec.hpp"
#include "watch/crash_report.hpp"

namespace trainrt {

namespace {

/// Sets the name of a run without a name to the default name of the process. From the second run of the process on, a
/// number is appended.
void name_run(trainer::LoadedConfig& config, trainer::ProcessConnection& connection) {
  ++connection.runs;
  trainer::share_default_name(config, *connection.communicator);
  if (!config.spec || !config.spec->run.is_name_default) return;
  auto& spec = *config.spec;
  if (connection.default_name.empty()) connection.default_name = spec.run.name;
  config::rename(spec, config::numbered_name(connection.default_name, connection.runs));
  const bool has_options =
      Environment::of_process().has(config::launch_settings_variable);  // `trainrt` started the program
  spec.run.continue_with = has_options ? config::name_option(connection.default_name)
                                       : fmt::format("the environment variable {}={}", config::run_name_variable,
                                                     shell_quoted(connection.default_name));
}

/// Logs the run directory of a run with a default name, and how to resume the run.
void log_default_name(const config::RunSpec& spec) {
  if (!spec.run.is_name_default) return;
  log::info(fmt::format("RunConfig::name is not set; the run directory is {}. To resume the run, run the same command {}",
                        spec.run_dir, config::again(spec.run)));
}

/// Records the run directory for the process that started the ranks. If a rank started this program (environment variable
/// TRAINRT_FD is set), the rank records the directory instead. Collective.
void record_opened_run(const config::RunSpec& spec, Communicator& communicator) {
  const auto record = [&] {
    if (!Environment::of_process().has("TRAINRT_FD")) rundir::record_opened_run(spec.run_dir);
  };
  comm::collectively_on_first(communicator, record, trainer::with_advice);
}

Result run_on(trainer::ProcessConnection& connection, trainer::LoadedConfig& config,
              const std::vector<config::SettingChange>& changes, const trainer::TrainCall& call) {
  name_run(config, connection);
  const auto check = [&] {
    trainer::require_workers(*config.spec, connection.launch->world().size);
    trainer::check_spec(*config.spec);
  };
  trainer::agree_on_start(config, *connection.launch, connection.communicator, check);
  trainer::log_ranks(connection.launch->world(), *connection.communicator, "the train function of the program");
  for (const auto& change : changes) log::info(config::in_words(change));
  log_default_name(*config.spec);
  record_opened_run(*config.spec, *connection.communicator);
  watch::install_crash_reports();
  const auto outcome = trainer::run(*config.spec, call, *connection.launch, *connection.communicator);
  log::info(outcome.message);
  return trainer::broadcast_result(config.spec->run_dir, outcome.code, *connection.communicator);
}

/// Throws `error`, an AgreedError, as UsageError or Error, since AgreedError is not a public type.
[[noreturn]] void throw_as_public(const Error& error) {
  if (error.code() == ExitCode::usage) throw UsageError(error.what());
  throw Error(error.what(), error.code());
}

}  // namespace

Result Trainer::fit() {
  const batch::StopSignals signals;
  std::vector<config::SettingChange> changes;
  auto config = trainer::load_config([&] { return trainer::spec_of(options_, Environment::of_process(), changes); });
  auto& connection = trainer::process_connection(config);
  trainer::TrainCall call;
  call.name = trainer::function_of_program;
  call.train = train_;
  call.prints_here = true;
  call.has_caller = true;
  call.callbacks = options_.run.callbacks;
  call.metadata = options_.metadata;
  try {
    return run_on(connection, config, changes, call);
  } catch (const comm::AgreedError& error) {
    throw_as_public(error);
  } catch (const std::exception&) {
    if (connection.launch->world().size > 1) static_cast<void>(trainer::abort_step(*connection.launch));
    throw;
  }
}

int Trainer::run() try { return fit().exit_code(); } catch (const Error& error) {
  log::run_error(trainer::with_advice(error));
  return static_cast<int>(error.code());
}

}  // namespace trainrt
