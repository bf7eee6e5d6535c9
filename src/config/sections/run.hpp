#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/output/output_targets.hpp"

namespace trainrt::config {

/// The values of [run].
struct RunKeys {
  std::string name;
  bool is_name_default = false;       ///< `name` was generated: all ranks must take rank 0's
  bool is_opened_by_program = false;  ///< a program requested this run
  std::string storage_path;           ///< absolute
  std::uint64_t seed = 0;
  std::string resume_from;                  ///< checkpoint or run directory, absolute; "": the run starts from nothing
  bool continues_iterations = false;        ///< reports count on from the checkpoint of resume_from; else from 0
  std::vector<std::string> resume_tensors;  ///< patterns of the names to load from resume_from; empty: everything
  bool accepts_missing_checkpoints = false;
  std::vector<std::string> callbacks;                  ///< names
  ShownOutput shown_output = ShownOutput::first_rank;  ///< on the terminal
};

}  // namespace trainrt::config
