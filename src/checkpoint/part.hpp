#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::checkpoint {

/// The part of a shard file that one rank wrote: shard and part number in the manifest.
struct PartRef {
  std::size_t shard = 0;
  std::size_t part = 0;

  const ShardRecord& shard_of(const Manifest& manifest) const { return manifest.shards[shard]; }
  const PartRecord& record(const Manifest& manifest) const { return manifest.shards[shard].parts[part]; }
};

/// All parts of a checkpoint, in the order of files and places.
std::vector<PartRef> parts_of(const Manifest& manifest);

/// Opens a shard for reading; Error if it has not the size that the manifest says.
io::PositionalFile open_shard(const std::string& checkpoint_dir, const ShardRecord& shard, io::PositionalFile::Cache cache);

/// The text of a part's index, without the blanks that fill it up. Error if it cannot be read or is damaged.
std::string read_part(const std::string& checkpoint_dir, const ShardRecord& shard, const PartRecord& part);

/// What so many bytes are read into: room for their pages, wherever they begin.
constexpr std::size_t read_buffer_for(std::uint64_t bytes) { return bytes + 2 * io::io_alignment; }
inline constexpr std::size_t read_buffer_bytes = read_buffer_for(block_bytes);  ///< for the largest block

}  // namespace trainrt::checkpoint
