#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::checkpoint {

/// Identifies a part of a checkpoint, the bytes of a shard file that one rank wrote, by its indices in the manifest.
struct PartRef {
  std::size_t shard = 0;
  std::size_t part = 0;

  const ShardRecord& shard_of(const Manifest& manifest) const { return manifest.shards[shard]; }
  const PartRecord& record(const Manifest& manifest) const { return manifest.shards[shard].parts[part]; }
};

/// Returns all parts of a checkpoint (each is the bytes that one rank wrote), ordered by shard file and then by offset in
/// the file.
std::vector<PartRef> parts_of(const Manifest& manifest);

/// Opens a shard file for reading. Throws Error if the file's size differs from the manifest.
io::PositionalFile open_shard(const std::string& checkpoint_dir, const ShardRecord& shard, io::PositionalFile::Cache cache);

/// Reads and verifies the index of a part, the JSON text that lists the bytes that one rank wrote into the shard file.
/// Returns the text without the padding blanks at its end. Throws Error if the index cannot be read or is damaged.
std::string read_part(const std::string& checkpoint_dir, const ShardRecord& shard, const PartRecord& part);

/// Returns the size in bytes of a buffer that can hold any `bytes` contiguous bytes of a file, when only complete pages are
/// read (direct I/O).
constexpr std::size_t read_buffer_for(std::uint64_t bytes) { return bytes + 2 * io::io_alignment; }
/// Size in bytes of a buffer for reading a block of the maximum size.
inline constexpr std::size_t read_buffer_bytes = read_buffer_for(block_bytes);

}  // namespace trainrt::checkpoint
