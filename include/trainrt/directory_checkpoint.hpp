#pragma once
#include <cstdint>
#include <string>

#include <trainrt/options.hpp>

namespace trainrt {

class State;

/// A directory with files of the train function, from which Context::report() makes a checkpoint (Ray:
/// Checkpoint.from_directory).
struct DirectoryCheckpoint {
  std::string path;             ///< path of this rank's directory, on its node; "" if this rank has no directory
  std::string metadata = "{}";  ///< JSON object that the checkpoint stores; if several ranks pass one, the lowest rank's
  /// A State that only this checkpoint holds, for train functions without an attached State; or null. Either all ranks or
  /// no rank must pass a State. The data is copied before report() returns, and can be loaded by Context::load().
  const State* state = nullptr;
  /// Request for a validation of the checkpoint: a JSON object that describes the validation; "": no validation. If several
  /// ranks pass an object, the lowest rank's is stored. The validating program writes validation.json into the checkpoint's
  /// directory; the numbers in this file then count as metrics of the checkpoint. The checkpoint is not removed before
  /// validation.json exists.
  std::string validation = "";
  /// How to treat files of the same name but different content from several ranks. If any rank passes SameFiles::rank0,
  /// rank0 applies to all ranks. The config key checkpoint.same_files, if it is set, takes precedence.
  SameFiles same_files = SameFiles::error;
};

/// Options for Context::report().
struct ReportOptions {
  bool of_first_rank = false;  ///< report rank 0's metrics and ignore those of other ranks. Must be equal on all ranks
};

/// The number and location of a committed checkpoint.
struct CheckpointPlace {
  std::int64_t index = 0;  ///< number of the checkpoint: NNNNNN of checkpoint_NNNNNN
  std::string path;        ///< path of the checkpoint's directory
  bool has_files = false;  ///< PATH/files/ holds files that report() copied from the ranks' directories
};

}  // namespace trainrt
