#pragma once
#include <string>

#include "trainer/run.hpp"

namespace trainrt::cli {

/// What [train] names: a train function that is built in, in a module or in a user's library, or a program. UsageError
/// where it is not there.
trainer::TrainCall train_call(const trainer::RunSpec& spec);

/// For people: "train function linear", "program python3 train.py".
std::string described(const trainer::RunSpec& spec, const trainer::TrainCall& call);

}  // namespace trainrt::cli
