#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/output/output_targets.hpp"

namespace trainrt::config {

/// The values of [run].
struct RunKeys {
  std::string name;
  bool is_name_default = false;       ///< it was made up: rank 0's counts
  bool is_opened_by_program = false;  ///< which asked for it
  std::string storage_path;           ///< absolute
  std::uint64_t seed = 0;
  bool counts_on = false;                   ///< a run that starts from another's checkpoint counts reports on from there
  std::string resume_from;                  ///< a checkpoint of another run, absolute; "" = none
  std::vector<std::string> resume_tensors;  ///< patterns of names: what to take of it; empty: everything
  bool accepts_missing_checkpoints = false;
  std::vector<std::string> callbacks;                  ///< names
  ShownOutput shown_output = ShownOutput::first_rank;  ///< on the terminal
};

}  // namespace trainrt::config
