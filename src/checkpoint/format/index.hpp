#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <trainrt/tensor.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// Describes a slab or a value and the position of its bytes in the shard file. They are contiguous, row-major and
/// little-endian.
struct IndexEntry {
  std::string name;
  std::string dtype;      ///< "f32", ...; "string" (values only)
  std::string placement;  ///< "replicated", "sharded", "per_rank", "value"
  Shape global_shape;     ///< of the complete tensor; [] for values
  Shape offset;           ///< of the slab in the tensor
  Shape shape;            ///< of the slab
  std::uint64_t at = 0;   ///< position in the file, bytes
  std::uint64_t bytes = 0;
};

/// A contiguous range of bytes that one rank wrote, at most block_bytes, with its checksum.
struct BlockRecord {
  std::uint64_t at = 0;  ///< position in the file, bytes
  std::uint64_t bytes = 0;
  std::string digest;  ///< XXH3-128 as 32 hexadecimal digits
};

/// Lists everything that one rank wrote into a shard file. The blocks of all ranks that wrote into a file tile its HDF5
/// part from the first byte to the last, padding included.
struct Index {
  int rank = 0;
  std::vector<IndexEntry> tensors;
  std::vector<IndexEntry> values;
  std::vector<BlockRecord> blocks;
};

/// Returns entries as a JSON list for index_text(). The text of the tensors is the same for every save of a plan.
std::string entries_text(const std::vector<IndexEntry>& entries);

/// Returns an index as JSON, padded with blanks to `padded_bytes`. `tensors_text` and `values_text` are results of
/// entries_text(). Throws std::logic_error if the text is longer than `padded_bytes`.
std::string index_text(int rank, std::string_view tensors_text, std::string_view values_text,
                       const std::vector<BlockRecord>& blocks, std::size_t padded_bytes);

/// Returns the digest of a file from the digests of its blocks: the XXH3-128 of their concatenation.
std::string digest_of_blocks(const std::vector<BlockRecord>& blocks);

/// Parses the text of index_text(). Throws Error naming `path`, the entry and the byte for anything else: wrong types,
/// unknown or repeated keys, negative or overflowing numbers, shapes that do not match their bytes. The caller must check
/// that blocks and entries are inside the file.
Index index_from(std::string_view text, const std::string& path);

}  // namespace trainrt::checkpoint
