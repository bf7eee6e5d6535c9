#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <trainrt/tensor.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// Describes a value, or a slab (a rectangular part of a tensor), and the range of its bytes in the shard file. The bytes
/// are contiguous, row-major and little-endian.
struct IndexEntry {
  std::string name;
  std::string dtype;      ///< "f32", "i64", ...; values can also have "string"
  std::string placement;  ///< "replicated", "sharded" or "per_rank" for tensors, "value" for values
  Shape global_shape;     ///< shape of the complete tensor; [] for values
  Shape offset;           ///< index of the slab's first element in the complete tensor, one number per axis
  Shape shape;            ///< shape of the slab
  std::uint64_t at = 0;   ///< offset of the first byte in the shard file, in bytes
  std::uint64_t bytes = 0;
};

/// Checksum of a block: a contiguous range of at most block_bytes bytes of a file, written by one rank.
struct BlockRecord {
  std::uint64_t at = 0;  ///< offset of the block in the file, in bytes
  std::uint64_t bytes = 0;
  std::string digest;  ///< XXH3-128 of the block, as 32 hexadecimal digits
};

/// Lists everything that one rank wrote into a shard file: an HDF5 file, followed by one index per rank. The blocks of all
/// these ranks together cover every byte of the HDF5 file exactly once, including padding.
struct Index {
  int rank = 0;
  std::vector<IndexEntry> tensors;
  std::vector<IndexEntry> values;
  std::vector<BlockRecord> blocks;
};

/// Returns `entries` as a JSON list, for index_text(). The list of the tensors depends only on their names and shapes,
/// so one list can be used for all saves until these change.
std::string entries_text(const std::vector<IndexEntry>& entries);

/// Returns the index of a rank as JSON, padded with blanks to `padded_bytes` bytes. `tensors_text` and `values_text` are
/// results of entries_text(). Throws std::logic_error if the JSON is longer than `padded_bytes`.
std::string index_text(int rank, std::string_view tensors_text, std::string_view values_text,
                       const std::vector<BlockRecord>& blocks, std::size_t padded_bytes);

/// Returns the digest of a file, computed from the digests of its blocks: the XXH3-128 of the concatenated hexadecimal
/// digests.
std::string digest_of_blocks(const std::vector<BlockRecord>& blocks);

/// Parses the index of a rank, a text that index_text() returned. Throws Error naming `path`, the entry and the byte offset
/// if the text is invalid: wrong types, unknown or repeated keys, negative or too large numbers, or shapes that do not
/// match the number of bytes. The caller must check that all byte ranges are inside the file.
Index index_from(std::string_view text, const std::string& path);

}  // namespace trainrt::checkpoint
