#pragma once
#include <vector>

#include <trainrt/trainer.hpp>

#include "config/program_settings.hpp"
#include "config/run_spec.hpp"
#include "core/environment.hpp"

namespace trainrt::trainer {

/// The name of a Trainer's train function in run.json. No function of a module has this name, so a Trainer cannot resume
/// the run of a module, and a module cannot resume the run of a Trainer.
inline constexpr const char* function_of_program = "of the program";

/// Returns the RunSpec of a Trainer with options `given`. These options override the config file of the command that
/// started the program, and the arguments on the command line override these options (config/launch_settings.hpp). Adds the
/// overridden values to `changes`. Throws UsageError.
config::RunSpec spec_of(const TrainerOptions& given, const Environment& environment,
                        std::vector<config::SettingChange>& changes);

}  // namespace trainrt::trainer
