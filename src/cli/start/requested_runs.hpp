#pragma once
#include <functional>

#include "cli/start/resolve_train_function.hpp"
#include "config/run_spec.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::cli {

/// Runs a program: the run of the config or, if the program requests runs of its own, these runs one after the other, until
/// one of them does not finish or the program exits. `require` throws if a run's spec does not fit the launched ranks.
/// Collective. Throws the same errors as trainer::run().
trainer::RunOutcome run_requested(const config::RunSpec& spec, const ResolvedFunction& function, launch::Launch& launch,
                                  Communicator& communicator, const std::function<void(const config::RunSpec&)>& require);

/// Returns the name, the directory and the state of the run that `request` would open. `base` is the config of this start.
program::RequestedRun find_requested_run(const config::RunSpec& base, const program::RunRequest& request);

}  // namespace trainrt::cli
