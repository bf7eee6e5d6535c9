#pragma once
#include <cstdint>
#include <string>

#include <trainrt/options.hpp>

#include "config/intervals.hpp"

namespace trainrt::config {

/// Action if replicated tensors are found to differ between ranks: end the run with an error, log a warning, or do not
/// compare.
enum class OnReplicaDifference { error, warn, off };

/// Values of the config section [checkpoint].
struct CheckpointKeys {
  CheckpointInterval every;
  std::int64_t num_to_keep = 0;  ///< number of checkpoints to keep; 0: all
  std::string score_attribute;   ///< metric by which checkpoints are ranked; "": the newest are the best
  bool score_is_maximized = true;
  FileLayout layout = FileLayout::node;
  bool async = true;
  std::uint64_t staging_bytes = 0;  ///< per rank
  std::int64_t max_failed = 0;      ///< consecutive checkpoints; 0: no limit
  int io_threads = 0;               ///< per rank
  bool read_back = false;
  OnReplicaDifference replica_check = OnReplicaDifference::error;
  StepInterval replica_check_every;  ///< additional comparisons between checkpoints
  std::string mirror;                ///< URL or path; "": no mirror
  double mirror_wait_s = 0;          ///< at the end of the run
};

}  // namespace trainrt::config
