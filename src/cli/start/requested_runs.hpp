#pragma once
#include <functional>

#include "cli/start/resolve_train_function.hpp"
#include "config/run_spec.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::cli {

/// Runs the program of the config on all ranks. A program that requests no runs trains the run of the config. Runs that
/// the program requests are executed one after the other, until one of them does not finish or the program exits.
/// `require` throws if the specification of a run does not fit the launched ranks. Collective. Throws the same errors
/// as trainer::run().
trainer::RunOutcome run_requested(const config::RunSpec& spec, const ResolvedFunction& function, launch::Launch& launch,
                                  Communicator& communicator, const std::function<void(const config::RunSpec&)>& require);

/// Returns the name, the directory and the state of the run that `request` would open. `base` is the config of this start.
program::RequestedRun find_requested_run(const config::RunSpec& base, const program::RunRequest& request);

}  // namespace trainrt::cli
