#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/bytes/checksummed_range.hpp"
#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// The CRC-32 of each block of a file's checksummed ranges, in the order of the ranges. The last block of a range may be
/// shorter. After the last set() any threads may read at once.
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

  /// Returns the first range whose blocks together do not have its CRC-32, nullptr if all have. Call it after all blocks
  /// are set.
  const ChecksummedRange* first_damaged() const;
  /// Reads `parts` by `read`; of what lies in a range complete blocks are read and compared with their checksums. Throws
  /// Error that names the range and the bytes if one differs.
  void read_verified(std::span<const FilePart> parts, const Read& read) const;

 private:
  struct Cover;
  std::vector<Cover> covers_of(std::span<const FilePart> parts) const;
  void verify(const Cover& cover, std::span<const std::byte> bytes) const;

  std::vector<ChecksummedRange> ranges_;
  std::vector<std::uint64_t> ends_;  ///< number of blocks up to the end of each range
  std::uint64_t block_bytes_;
  std::vector<std::uint32_t> checksums_;
};

}  // namespace trainrt::data
