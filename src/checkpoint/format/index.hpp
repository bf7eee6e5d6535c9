#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <trainrt/tensor.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// A slab, or a value, and where its bytes lie in the shard file: contiguous, row-major, little-endian.
struct IndexEntry {
  std::string name;
  std::string dtype;      ///< "f32", ...; "string" (values only)
  std::string placement;  ///< "replicated", "sharded", "per_rank", "value"
  Shape global_shape;     ///< of the whole tensor; [] for values
  Shape offset;           ///< of the slab in the whole
  Shape shape;            ///< of the slab
  std::uint64_t at = 0;   ///< where in the file
  std::uint64_t bytes = 0;
};

/// A run of bytes of a file that one rank wrote, and their XXH3-128 as 32 hexadecimal digits.
struct BlockRecord {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::string digest;
};

/// What one rank wrote into a shard file. The blocks of all ranks that wrote into a file tile its HDF5 part, from the
/// first byte to the last, padding included.
struct Index {
  int rank = 0;
  std::vector<IndexEntry> tensors;
  std::vector<IndexEntry> values;
  std::vector<BlockRecord> blocks;
};

/// Entries as JSON text. That of the tensors stays the same from save to save: it is made once.
std::string entries_text(const std::vector<IndexEntry>& entries);

/// The index as JSON, filled up with blanks to `padded_bytes`; more than that is a std::logic_error.
std::string index_text(int rank, std::string_view tensors_text, std::string_view values_text,
                       const std::vector<BlockRecord>& blocks, std::size_t padded_bytes);

/// XXH3-128 of the blocks' digests, written one after the other: the digest of a whole file that is digested in blocks.
std::string digest_of_blocks(const std::vector<BlockRecord>& blocks);

/// Reads what index_text() made, strictly: wrong types, unknown keys, negative or overflowing numbers, shapes that do not
/// fit their bytes throw Error naming `path`. Whether a block or an entry lies inside the file is for the caller to check.
Index index_from(std::string_view text, const std::string& path);

}  // namespace trainrt::checkpoint
