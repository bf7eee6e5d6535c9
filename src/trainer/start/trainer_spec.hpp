#pragma once
#include <vector>

#include <trainrt/trainer.hpp>

#include "config/program_settings.hpp"
#include "config/run_spec.hpp"
#include "core/environment.hpp"

namespace trainrt::trainer {

/// What run.json calls the train function of a Trainer: a run of a module's is not continued by a program, nor the other
/// way round.
inline constexpr const char* function_of_program = "of the program";

/// The run that a Trainer is for: its settings stand between the config file and the command line that it was started with
/// (config/launch_settings.hpp). `changes`: what differs from those. Throws UsageError.
config::RunSpec spec_of(const TrainerOptions& given, const Environment& environment,
                        std::vector<config::SettingChange>& changes);

}  // namespace trainrt::trainer
