#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/output/output_targets.hpp"

namespace trainrt::config {

/// Values of the config section [run]: the name, directory and start of a run.
struct RunKeys {
  std::string name;
  bool is_name_default = false;  ///< true if `name` was generated: all ranks must take rank 0's name
  /// Option to add to the command of this start to continue the run: "--run.name=NAME (before --)" if the name was
  /// generated; "" if the command continues the run without an option.
  std::string continue_with;
  bool is_opened_by_program = false;  ///< true if a program requested this run
  std::string storage_path;           ///< directory that contains the run directory, absolute
  std::uint64_t seed = 0;
  /// absolute path of a checkpoint or run directory to start from; "": the run starts without a checkpoint
  std::string resume_from;
  /// true: the count of reports continues from the checkpoint of resume_from; false: it starts at 0
  bool continues_iterations = false;
  /// patterns of the names of tensors to load from resume_from; empty: everything is loaded
  std::vector<std::string> resume_tensors;
  bool accepts_missing_checkpoints = false;  ///< true: the run may resume although saved checkpoints are missing or damaged
  std::vector<std::string> callbacks;        ///< names of the callbacks that are notified of events in the run
  ShownOutput shown_output = ShownOutput::first_rank;  ///< ranks with output on the terminal
};

}  // namespace trainrt::config
