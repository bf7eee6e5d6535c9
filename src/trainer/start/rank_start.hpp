#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "comm/backend.hpp"
#include "config/run_spec.hpp"
#include "core/environment.hpp"
#include "launch/launcher.hpp"

namespace trainrt::trainer {

// The steps by which a process becomes a rank of a run. Commands of the program `trainrt` take them in
// execute_on_ranks(); a program with its own main takes them in Trainer::fit().

/// The config of this process, or the error that it caused. The ranks agree on the error after they are connected.
struct LoadedConfig {
  std::optional<config::RunSpec> spec;
  std::exception_ptr error;  ///< set if `spec` is not
};
/// Returns the result of `load`, or the Error that it throws.
LoadedConfig load_config(const std::function<config::RunSpec()>& load);

// Options of the launch and of communicators, from the config. If there is no config, they have their defaults.
launch::LaunchOptions launch_options_of(const LoadedConfig& config);
comm::CommOptions comm_options_of(const LoadedConfig& config);
comm::CommOptions comm_options_of(const config::RunSpec& spec);

/// Throws UsageError if a run with this config cannot have `ranks` ranks: if scaling.num_workers differs, or, for an
/// elastic run, if `ranks` is not between scaling.min_workers and scaling.num_workers.
void require_workers(const config::RunSpec& spec, int ranks);

/// Connects this process to the launcher that started it. From then on log messages carry the rank, and rank 0 logs a stop
/// signal when it arrives. Throws Error if ranks are missing. Collective.
std::unique_ptr<launch::Launch> connect_to_launcher(const Environment& environment, const LoadedConfig& config);
/// Opens the communicator of all ranks, which starts MPI if necessary, and restores the handlers of stop signals.
/// Collective.
std::unique_ptr<Communicator> connect_ranks(launch::Launch& launch, const LoadedConfig& config);

/// Gives all ranks the default run name of rank 0, since a default name may contain the time. Collective.
void share_default_name(LoadedConfig& config, Communicator& communicator);

/// Throws AgreedError on all ranks if any rank has no config, or if `check` throws on any rank. Collective.
void agree_on_config(const LoadedConfig& config, Communicator& communicator, const std::function<void()>& check);
/// Calls agree_on_config(), then assigns GPUs to the ranks and replaces `communicator` by one that reduces GPU memory. A
/// watchdog ends the job step if this takes too long. Called before any directory is created. Collective.
void agree_on_start(const LoadedConfig& config, launch::Launch& launch, std::unique_ptr<Communicator>& communicator,
                    const std::function<void()>& check);

/// Logs the number of ranks, how they communicate, and `activity`, a noun phrase: "train function linear".
void log_ranks(const World& world, const Communicator& communicator, const std::string& activity);

/// Logs the exception that is being handled and ends the job step with its exit code. Called by a rank for which other
/// ranks wait. Returns the exit code if the ranks are threads, which the launcher cannot end.
ExitCode abort_step(launch::Launch& launch);

}  // namespace trainrt::trainer
