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

// How a process becomes one of a run's ranks: what the program `trainrt` and a program with its own main have in common.

/// The config, or the error that all ranks will agree on once they can talk.
struct Prepared {
  std::optional<config::RunSpec> spec;
  std::exception_ptr error;
};
Prepared prepared(const std::function<config::RunSpec()>& make);

/// What a config says of the launch and the communication; the defaults if it cannot be read.
launch::LaunchOptions launch_options_of(const Prepared& prepared);
comm::CommOptions comm_options_of(const Prepared& prepared);
comm::CommOptions comm_options_of(const config::RunSpec& spec);

/// Elastic runs take any number of ranks in a range, others the one that was promised. UsageError says both numbers.
void require_workers(const config::RunSpec& spec, int size);

/// Finds the ranks. From then on the log knows which one this is, and the first answers a stop signal with a line.
std::unique_ptr<launch::Launch> find_ranks(const Environment& environment, const launch::LaunchOptions& options);

/// A name that was made up may hold a moment: all take rank 0's. Collective.
void take_name_of_first(Prepared& prepared, Communicator& communicator);

/// The ranks agree that each can start, before any directory is made: reads the config of each, runs `prepare`, and takes
/// the GPUs, which completes the communicator. AgreedError otherwise. Collective.
void agree_on_start(const Prepared& prepared, launch::Launch& launch, std::unique_ptr<Communicator>& communicator,
                    const std::function<void()>& prepare);

/// Says who trains, and over what.
void say_ranks(const World& world, const Communicator& communicator, const std::string& what);

/// The ranks have not agreed on the exception that is being handled, and others wait somewhere: says it and ends the step.
/// Returns its exit code if the launcher cannot end the process.
ExitCode end_step(launch::Launch& launch);

}  // namespace trainrt::trainer
