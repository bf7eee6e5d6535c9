#pragma once
#include <functional>

#include "cli/start/train_call.hpp"
#include "config/run_spec.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::cli {

/// The runs of a program: the one of the config, or those that it asks for, one after the other, until one does not finish
/// or the program ends. Collective. Throws what trainer::run() throws.
/// `require`: checks a spec against what was launched; throws.
trainer::RunOutcome run_programs(const config::RunSpec& spec, const Training& training, launch::Launch& launch,
                                 Communicator& communicator, const std::function<void(const config::RunSpec&)>& require);

/// What such a request of a program would open, by the config of this start.
program::RequestedRun look_up(const config::RunSpec& base, const program::RunRequest& request);

}  // namespace trainrt::cli
