#pragma once
#include <memory>
#include <string>

#include "program/run/program.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::cli {

/// Checks the keys of [loop] and the sections [data.NAME] against the declarations of the train function of [train], and
/// stores the defaults of missing keys in `spec`. A module with an index is not loaded for this. Returns the name of the
/// train function; "" for a program. Throws UsageError that names the origin of an invalid key, or if the train function
/// does not exist.
std::string check_declared_keys(config::RunSpec& spec);

/// A train function, or a program that is run as one.
struct ResolvedFunction {
  trainer::TrainCall call;
  std::shared_ptr<program::ProgramHost> host;  ///< nullptr for a train function
};

/// Returns the train function or the program that the section [train] names. A train function is built in, or loaded from
/// a module or from the user's library. Throws UsageError if it does not exist.
ResolvedFunction resolve_train_function(const config::RunSpec& spec);

/// Makes the checks of a start that need no communication between ranks: check_declared_keys() and
/// trainer::check_spec(). Returns resolve_train_function().
ResolvedFunction prepare_train_function(config::RunSpec& spec);

/// Returns a description for messages: "train function linear", "program python3 train.py".
std::string train_function_text(const config::RunSpec& spec, const trainer::TrainCall& call);

}  // namespace trainrt::cli
