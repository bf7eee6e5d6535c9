#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <trainrt/options.hpp>

#include "config/intervals.hpp"

namespace trainrt::config {

/// Action if replicated tensors are found to differ between ranks: end the run with an error, log a warning, or do not
/// compare.
enum class OnReplicaDifference { error, warn, off };

/// Values of the config section [checkpoint]: when checkpoints are saved, how they are written, and which are kept.
struct CheckpointKeys {
  CheckpointInterval every;
  std::int64_t num_to_keep = 0;  ///< number of checkpoints to keep; 0: all
  std::string score_attribute;   ///< metric by which checkpoints are ranked; "": the newest are the best
  bool score_is_maximized = true;
  FileLayout layout = FileLayout::node;
  bool async = true;                ///< true: write checkpoints while training continues
  std::uint64_t staging_bytes = 0;  ///< staging memory for a save, bytes per rank
  std::int64_t max_failed = 0;      ///< maximum number of consecutive checkpoints that may fail; 0: no limit
  int io_threads = 0;               ///< number of I/O threads per rank
  bool read_back = false;           ///< true: read and verify every checkpoint before it is committed
  OnReplicaDifference replica_check = OnReplicaDifference::error;
  StepInterval replica_check_every;     ///< interval of additional comparisons of replicated tensors between checkpoints
  std::optional<SameFiles> same_files;  ///< nullopt: the caller of report() decides
  std::string mirror;                   ///< object store or folder for copies of checkpoints, as URL or path; "": no mirror
  double mirror_wait_s = 0;             ///< maximum time that the end of a run waits for the mirror, seconds
};

}  // namespace trainrt::config
