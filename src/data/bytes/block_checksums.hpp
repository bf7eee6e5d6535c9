#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/bytes/data_file.hpp"
#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// Stores the CRC-32 of each block of a file's checksummed ranges. Each range is divided into blocks of `block_bytes`
/// bytes; its last block may be shorter. The blocks of all ranges are numbered consecutively. After the last set(), any
/// number of threads may read at the same time.
class BlockChecksums {
 public:
  using Read = std::function<void(std::span<const FilePart> parts)>;
  struct Block {
    std::uint64_t offset = 0, bytes = 0;
  };

  BlockChecksums(std::vector<ChecksummedRange> ranges, std::uint64_t block_bytes);
  std::uint64_t size() const { return checksums_.size(); }  ///< number of blocks
  Block block(std::uint64_t number) const;
  void set(std::uint64_t number, std::uint32_t crc32) { checksums_[number] = crc32; }

  /// Returns the first damaged range, or nullptr if no range is damaged. A range is damaged if its CRC-32 differs from
  /// the combined CRC-32 of its blocks. Precondition: the CRC-32 of each block has been set.
  const ChecksummedRange* first_damaged() const;
  /// Fills `parts` by calling `read`. If a part overlaps a range that has checksums, reads all blocks that the part
  /// touches, and verifies their checksums. Throws Error, with the byte range of the block, if a checksum does not match.
  void read_verified(std::span<const FilePart> parts, const Read& read) const;

 private:
  struct Cover;
  Cover cover_of(const FilePart& part) const;
  void verify(const Cover& cover, std::span<const std::byte> bytes) const;
  std::uint64_t first_block(std::size_t range) const { return range == 0 ? 0 : ends_[range - 1]; }

  std::vector<ChecksummedRange> ranges_;
  std::vector<std::uint64_t> ends_;  ///< for each range, the number of blocks up to the end of the range
  std::uint64_t block_bytes_;
  std::vector<std::uint32_t> checksums_;
};

}  // namespace trainrt::data
