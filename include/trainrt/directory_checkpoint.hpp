#pragma once
#include <cstdint>
#include <string>

namespace trainrt {

class State;

/// A directory with files of the train function that Context::report() saves as a checkpoint (Ray:
/// Checkpoint.from_directory).
struct DirectoryCheckpoint {
  std::string path;             ///< this rank's directory, on its node; "": this rank has none
  std::string metadata = "{}";  ///< JSON object for the checkpoint's manifest; the lowest rank's that passes one is stored
  /// A State that this checkpoint alone holds, for functions that attach no State; all ranks must pass one, or none. It is
  /// copied before report() returns. Context::load() loads it.
  const State* state = nullptr;
  /// JSON object that asks for a validation of the checkpoint and describes it; "": no validation. The lowest rank's that
  /// passes one is stored. The validating program writes validation.json into the checkpoint's directory; its numbers then
  /// count as metrics of the checkpoint. The checkpoint is kept until then.
  std::string validation = "";
};

/// The options of Context::report().
struct ReportOptions {
  bool of_first_rank = false;  ///< report rank 0's metrics; other ranks' are ignored. Must be the same on all ranks
};

/// The location of a committed checkpoint.
struct CheckpointPlace {
  std::int64_t index = 0;  ///< NNNNNN of checkpoint_NNNNNN
  std::string path;        ///< path of that directory
  bool has_files = false;  ///< PATH/files/ holds the files that report() saved from directories
};

}  // namespace trainrt
