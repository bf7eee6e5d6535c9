#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// The result of writing one rank's part of a checkpoint.
struct Sealed {
  std::string failure;        ///< message naming the file; "" if the part is durable
  bool is_transient = false;  ///< io::is_transient() is true for the failure
  PartRecord part;
  std::uint64_t file_bytes = 0;  ///< size of the shard file that contains the part
  std::vector<FileRecord> files;
};

/// The result of saving a checkpoint, the same on all ranks.
struct SaveResult {
  std::int64_t number = -1;
  bool committed = false;
  std::string directory;      ///< path of the committed checkpoint
  std::string error;          ///< message with rank, host and file if it was not committed
  bool lost = false;          ///< another attempt owns the run now
  bool is_transient = false;  ///< io::is_transient() is true for the error
  std::int64_t began_ms = 0;  ///< monotonic_seconds() of rank 0, in ms
  std::int64_t ended_ms = 0;  ///< the same clock
  std::uint64_t bytes = 0;    ///< size of the committed checkpoint
};

/// Serialize results for other ranks, and restore them.

std::string packed(const Sealed& sealed);
Sealed unpacked_sealed(std::string_view bytes);
std::string packed(const SaveResult& result);
SaveResult unpacked_result(std::string_view bytes);

}  // namespace trainrt::checkpoint
