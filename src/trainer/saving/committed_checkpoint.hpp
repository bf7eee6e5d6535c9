#pragma once
#include <cstdint>
#include <string>

namespace trainrt::trainer {

/// A point of a run's training: the numbers of completed iterations (reports) and steps. Both are -1 if unknown.
struct RunPoint {
  std::int64_t iteration = -1;
  std::int64_t step = -1;
  bool operator==(const RunPoint&) const = default;
};

/// A committed checkpoint of this run, or of the run that this one was started from.
struct CommittedCheckpoint {
  std::int64_t number = -1;
  std::string directory;
  bool has_files = false;       ///< contains files of directories that were passed to report()
  std::string metadata = "{}";  ///< JSON object
  RunPoint point;
};

}  // namespace trainrt::trainer
