#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

// What becomes of a save, and how ranks send it to each other.

/// What became of one rank's part of a checkpoint.
struct Sealed {
  std::string failure;    ///< "" = durable; else why it is not, naming the file
  bool may_pass = false;  ///< the storage was away
  PartRecord part;
  std::uint64_t file_bytes = 0;  ///< of the whole shard file that it lies in
  std::vector<FileRecord> files;
};

/// What became of a checkpoint, the same on all ranks.
struct SaveResult {
  std::int64_t number = -1;
  bool committed = false;
  std::string directory;      ///< if committed
  std::string error;          ///< else why not, with rank, host and file
  bool lost = false;          ///< another attempt owns the run now
  bool may_pass = false;      ///< the storage was away, and may be back by itself
  std::int64_t began_ms = 0;  ///< when it began and when it ended, by rank 0's clock (monotonic_seconds())
  std::int64_t ended_ms = 0;
  std::uint64_t bytes = 0;
};

std::string packed(const Sealed& sealed);
Sealed unpacked_sealed(std::string_view bytes);
std::string packed(const SaveResult& result);
SaveResult unpacked_result(std::string_view bytes);

}  // namespace trainrt::checkpoint
