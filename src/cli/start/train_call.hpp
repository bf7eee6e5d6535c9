#pragma once
#include <memory>
#include <string>

#include "program/run/program.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::cli {

/// Checks [loop] and [data.NAME] against what the train function of [train] declares, and takes its defaults. No module is
/// loaded that has an index. UsageError with the place of what is wrong; also if there is no such function.
/// Returns the function's name, "" for a program.
std::string take_declared(config::RunSpec& spec);

/// What [train] names.
struct Training {
  trainer::TrainCall call;
  std::shared_ptr<program::ProgramHost> host;  ///< of a program; nullptr of a train function
};

/// A train function that is built in, in a module or in a user's library, or a program. UsageError if it is not there.
Training training_of(const config::RunSpec& spec);

/// What a start does with its config before its ranks agree: take_declared(), trainer::check_spec() and training_of().
Training prepared_training(config::RunSpec& spec);

/// For people: "train function linear", "program python3 train.py".
std::string described(const config::RunSpec& spec, const trainer::TrainCall& call);

}  // namespace trainrt::cli
