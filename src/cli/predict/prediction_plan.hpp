#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "cli/command_line/arguments.hpp"
#include "config/run_spec.hpp"
#include "trainer/predictions/prediction.hpp"

namespace trainrt::cli {

/// What `trainrt predict` is to do.
struct PredictionPlan {
  config::RunSpec spec;    ///< name, seed, [train] and [loop] of the run that was trained, and the one dataset
  std::string checkpoint;  ///< its directory
  std::string dataset;
  std::vector<trainer::KeptField> kept;
};

/// From the checkpoint that is named (an operand, --best), the record of its run, --section.key=value, --dataset NAME and
/// --keep FIELD[=NAME],... UsageError that says what to do if the checkpoint or the dataset is not there, if the run's
/// function is not known, or if the dataset's keys would leave samples out or repeat them.
PredictionPlan plan_prediction(const Arguments& arguments);

/// Of [loop] the defaults of what the train function declares, checked, without the datasets that training needs. The
/// function, which can predict; UsageError otherwise.
TrainFunction predicting_function(config::RunSpec& spec);

}  // namespace trainrt::cli
