#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "cli/command_line/arguments.hpp"
#include "config/run_spec.hpp"
#include "trainer/predictions/prediction.hpp"

namespace trainrt::cli {

/// The task of `trainrt predict`.
struct PredictionPlan {
  config::RunSpec spec;    ///< name, seed, [train] and [loop] of the run that was trained, and only the chosen dataset
  std::string checkpoint;  ///< path of its directory
  std::string dataset;     ///< name of the chosen dataset
  std::vector<trainer::KeptField> kept;
};

/// Returns the task that the command line describes: the checkpoint (an operand, --best), the dataset (--dataset NAME),
/// fields to copy (--keep FIELD[=NAME],...) and config values, which override those in the record of the checkpoint's run.
/// Throws UsageError if the checkpoint or the dataset does not exist, if the train function is unknown, or if the keys of
/// the dataset would omit or repeat samples.
PredictionPlan plan_prediction(const Arguments& arguments);

/// Returns the train function of `spec`. Checks the keys of [loop] against its declarations and stores the defaults of
/// missing keys; the datasets for training are not required. Throws UsageError if the function does not exist or cannot
/// predict.
TrainFunction predicting_function(config::RunSpec& spec);

}  // namespace trainrt::cli
