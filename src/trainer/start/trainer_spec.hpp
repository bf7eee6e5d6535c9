#pragma once
#include <vector>

#include <trainrt/trainer.hpp>

#include "config/program_settings.hpp"
#include "config/run_spec.hpp"
#include "core/environment.hpp"

namespace trainrt::trainer {

/// The name of a Trainer's train function in run.json. It differs from the names of functions in modules, so that a program
/// cannot resume the run of a module, and vice versa.
inline constexpr const char* function_of_program = "of the program";

/// Returns the RunSpec of a Trainer. Its options override the config file of the command that started the program, and that
/// command's line overrides its options (config/launch_settings.hpp). Adds the values that differ to `changes`. Throws
/// UsageError.
config::RunSpec spec_of(const TrainerOptions& given, const Environment& environment,
                        std::vector<config::SettingChange>& changes);

}  // namespace trainrt::trainer
