#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::checkpoint {

/// Identifies a part, the bytes of a shard file that one rank wrote, by its indices in the manifest.
struct PartRef {
  std::size_t shard = 0;
  std::size_t part = 0;

  const ShardRecord& shard_of(const Manifest& manifest) const { return manifest.shards[shard]; }
  const PartRecord& record(const Manifest& manifest) const { return manifest.shards[shard].parts[part]; }
};

/// Returns all parts of a checkpoint, in the order of files and of positions in them.
std::vector<PartRef> parts_of(const Manifest& manifest);

/// Opens a shard for reading. Throws Error if its size differs from the manifest.
io::PositionalFile open_shard(const std::string& checkpoint_dir, const ShardRecord& shard, io::PositionalFile::Cache cache);

/// Returns the text of a part's index, without the blanks at its end. Throws Error if it cannot be read or is damaged.
std::string read_part(const std::string& checkpoint_dir, const ShardRecord& shard, const PartRecord& part);

/// Returns the size of a buffer for reading `bytes` bytes in complete pages, at any position in a file.
constexpr std::size_t read_buffer_for(std::uint64_t bytes) { return bytes + 2 * io::io_alignment; }
inline constexpr std::size_t read_buffer_bytes = read_buffer_for(block_bytes);  ///< for the largest block

}  // namespace trainrt::checkpoint
