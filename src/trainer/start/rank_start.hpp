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

// Functions that make a process a rank of a run. execute_on_ranks() calls them for commands of the program `trainrt`, and
// Trainer::fit() calls them for a program with its own main().

/// The config of this process, or the error that loading the config caused. After the ranks are connected,
/// agree_on_config() reports the error on all ranks.
struct LoadedConfig {
  std::optional<config::RunSpec> spec;
  std::exception_ptr error;  ///< set if `spec` is empty
};
/// Returns the result of `load`, or the Error that `load` throws.
LoadedConfig load_config(const std::function<config::RunSpec()>& load);

// These functions return the options of the launch and of communicators from the config; without a config, the defaults.
launch::LaunchOptions launch_options_of(const LoadedConfig& config);
comm::CommOptions comm_options_of(const LoadedConfig& config);
comm::CommOptions comm_options_of(const config::RunSpec& spec);

/// Throws UsageError if a run with this config cannot have `ranks` ranks. An elastic run needs scaling.min_workers to
/// scaling.num_workers ranks. Any other run needs scaling.num_workers ranks, if this key is set.
void require_workers(const config::RunSpec& spec, int ranks);

/// Connects this process to the launcher that started it. Afterwards, log messages contain the rank, and rank 0 logs each
/// arriving stop signal. Throws Error if ranks are missing. Collective.
std::unique_ptr<launch::Launch> connect_to_launcher(const Environment& environment, const LoadedConfig& config);
/// Returns a new communicator of all ranks. Starts MPI if necessary, and then installs the handlers of stop signals again.
/// Collective.
std::unique_ptr<Communicator> connect_ranks(launch::Launch& launch, const LoadedConfig& config);

/// Replaces a default run name by the run name of rank 0, since a default name may contain the time. Collective.
void share_default_name(LoadedConfig& config, Communicator& communicator);

/// Throws AgreedError on all ranks if any rank has no config, or if `check` throws on any rank. Collective.
void agree_on_config(const LoadedConfig& config, Communicator& communicator, const std::function<void()>& check);
/// Calls agree_on_config(). Then assigns GPUs to the ranks, and replaces `communicator` by one that can also reduce
/// tensors in GPU memory. A watchdog ends the job step if this function takes too long. Must be called before any
/// directory is created. Collective.
void agree_on_start(const LoadedConfig& config, launch::Launch& launch, std::unique_ptr<Communicator>& communicator,
                    const std::function<void()>& check);

/// Logs the numbers of ranks and nodes, the communication backend, and `activity`, a phrase such as "train function
/// linear".
void log_ranks(const World& world, const Communicator& communicator, const std::string& activity);

/// Logs the exception that is being handled, and ends the job step with the exit code of the exception. A rank must
/// call abort_step() if other ranks may wait for it. If the ranks are threads, the launcher cannot end them, and
/// abort_step() returns the exit code instead.
ExitCode abort_step(launch::Launch& launch);

}  // namespace trainrt::trainer
