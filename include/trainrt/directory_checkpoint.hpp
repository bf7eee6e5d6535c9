#pragma once
#include <cstdint>
#include <string>

namespace trainrt {

class State;

/// What a rank gives report() for a checkpoint that the train function has written itself, as files in a directory.
struct DirectoryCheckpoint {
  std::string path;             ///< of this rank's directory, on its node; "": this rank gives none
  std::string metadata = "{}";  ///< a JSON object for the manifest; of the ranks that give one the lowest's counts
  /// On all ranks or on none: the checkpoint holds this State too, and no other does. It is read before report() returns.
  /// For functions that attach no State of their own; Context::load() reads it.
  const State* state = nullptr;
  /// A JSON object: the checkpoint is to be validated once it is committed, and how; "": it is not. Of the ranks that give
  /// one the lowest's counts. Who validates puts what it finds into validation.json of the checkpoint's directory; its
  /// numbers then count as metrics of the checkpoint, in the choice of those that are kept too. Until then it stays.
  std::string validation = "";
};

/// How report() takes the ranks' metrics.
struct ReportOptions {
  bool of_first_rank = false;  ///< rank 0's count, as they are; other ranks may have others, or none. The same on all ranks
};

/// Where a committed checkpoint lies.
struct CheckpointPlace {
  std::int64_t index = 0;  ///< NNNNNN of checkpoint_NNNNNN
  std::string path;        ///< of that directory
  bool has_files = false;  ///< it holds what report() was given a directory of: the files lie in PATH/files/
};

}  // namespace trainrt
