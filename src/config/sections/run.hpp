#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/output/output_targets.hpp"

namespace trainrt::config {

/// Values of the config section [run]: the name, directory and start of a run.
struct RunKeys {
  std::string name;
  bool is_name_default = false;       ///< true if `name` was generated: all ranks must take rank 0's name
  bool is_opened_by_program = false;  ///< true if a program requested this run
  std::string storage_path;           ///< directory that contains the run directory, absolute
  std::uint64_t seed = 0;
  std::string
      resume_from;  ///< checkpoint or run directory to start from, absolute; "": the run starts without a checkpoint
  bool continues_iterations =
      false;  ///< true: the iteration count continues from the checkpoint of resume_from; false: it starts at 0
  std::vector<std::string>
      resume_tensors;  ///< patterns of the tensor names to load from resume_from; empty: everything is loaded
  bool accepts_missing_checkpoints = false;
  std::vector<std::string> callbacks;                  ///< names of the callbacks
  ShownOutput shown_output = ShownOutput::first_rank;  ///< which output of the ranks is shown on the terminal
};

}  // namespace trainrt::config
