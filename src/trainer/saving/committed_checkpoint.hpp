#pragma once
#include <cstdint>
#include <string>

namespace trainrt::trainer {

/// A point of a run's training: the numbers of completed iterations (reports) and steps. Both numbers are -1 if unknown.
struct RunPoint {
  std::int64_t iteration = -1;
  std::int64_t step = -1;
  bool operator==(const RunPoint&) const = default;
};

/// A committed checkpoint of this run, or of another run whose checkpoint this run was started from.
struct CommittedCheckpoint {
  std::int64_t number = -1;
  std::string directory;
  bool has_files = false;       ///< whether the checkpoint contains files from directories that were passed to report()
  std::string metadata = "{}";  ///< JSON object
  RunPoint point;
};

}  // namespace trainrt::trainer
