#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// The result of writing one rank's part of a checkpoint: its bytes of a shard file, and the user's files that it stores.
struct Sealed {
  std::string failure;        ///< error message that names the file; "" if all bytes of the part are durable
  bool is_transient = false;  ///< the part failed with an error for which io::is_transient() returns true
  bool is_full = false;       ///< the part failed with an error for which io::is_full() returns true
  PartRecord part;
  std::uint64_t file_bytes = 0;   ///< size in bytes of the shard file, including the parts of other ranks
  std::vector<FileRecord> files;  ///< files of the user that this rank has stored in the checkpoint
};

/// The result of saving a checkpoint, the same on all ranks.
struct SaveResult {
  std::int64_t number = -1;
  bool committed = false;
  std::string directory;      ///< path of the committed checkpoint
  std::string error;          ///< why the save failed: message with rank, host and file; "" if the checkpoint is committed
  bool lost = false;          ///< the save failed because another attempt owns the run now
  bool is_transient = false;  ///< the save failed with an error for which io::is_transient() returns true
  bool is_full = false;       ///< the save failed with an error for which io::is_full() returns true
  std::int64_t began_ms = 0;  ///< time of the start of the save: monotonic_seconds() on rank 0, in ms
  std::int64_t ended_ms = 0;  ///< time of the end of the save: monotonic_seconds() on rank 0, in ms
  std::uint64_t bytes = 0;    ///< size of the committed checkpoint in bytes
};

// packed() serializes a result, so that it can be sent to another rank. unpacked_sealed() and unpacked_result()
// deserialize the bytes.

std::string packed(const Sealed& sealed);
Sealed unpacked_sealed(std::string_view bytes);
std::string packed(const SaveResult& result);
SaveResult unpacked_result(std::string_view bytes);

}  // namespace trainrt::checkpoint
