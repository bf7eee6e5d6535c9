#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>
#include <trainrt/train_function.hpp>

#include "launch/launcher.hpp"
#include "trainer/run_spec.hpp"

namespace trainrt::trainer {

struct RunOutcome {
  ExitCode code = ExitCode::finished;
  std::string message;  ///< what happened and what to do next, for rank 0 to print
};

/// Runs one attempt of a run: opens the run directory, continues from the last checkpoint, calls the train function, and
/// leaves the records. Collective. AgreedError where it cannot start; a train function that fails on some rank ends the
/// whole step from here (Launch::abort).
RunOutcome run(const RunSpec& spec, const TrainFunction& function, launch::Launch& launch, Communicator& communicator);

/// Before any directory is made: are the datasets of the config there and whole? UsageError otherwise.
void check_datasets(const RunSpec& spec);

}  // namespace trainrt::trainer
