#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// A member (file) of a zip archive, as the archive's directory (table of contents) describes it.
struct ZipMember {
  std::string name;
  std::uint64_t bytes = 0;   ///< size of the decompressed member
  std::uint64_t packed = 0;  ///< size of the member in the archive, in bytes
  std::uint64_t header = 0;  ///< offset of the member's local header in the file
  std::uint32_t crc32 = 0;   ///< checksum of the decompressed bytes
  std::uint16_t method = 0;  ///< compression method: 0 is stored, 8 is deflated
  std::uint16_t flags = 0;
  bool is_stored = false;  ///< whether the member is not compressed
};

/// A zip archive (PKWARE's APPNOTE 6.3.3, with Zip64) that is open for reading. Thread-safe. Used instead of Debian's
/// minizip 1.1, which does not support sizes and offsets of 4 GiB or more. For damaged archives, the functions throw
/// UsageError, which names the file, the member and the problem.
class ZipArchive {
 public:
  /// Reads the archive's directory (table of contents) from `file`.
  explicit ZipArchive(std::shared_ptr<const InputFile> file);

  /// Returns the members in the order of the directory.
  const std::vector<ZipMember>& members() const { return members_; }
  /// Throws UsageError if the member is encrypted, is compressed by a method other than deflate, or has impossible sizes.
  void require_readable(const ZipMember& member) const;
  /// Fills `into` with the first decompressed bytes of the member.
  void read_beginning(const ZipMember& member, std::span<std::byte> into) const;
  /// Fills `into` with the complete decompressed member, and verifies its checksum. Precondition: `into` has the size of
  /// the decompressed member.
  void read(const ZipMember& member, std::span<std::byte> into) const;
  /// Returns the offset of the member's bytes in the file. Throws UsageError if the member's local header contradicts the
  /// archive's directory; this check is necessary because the directory has no checksum.
  std::uint64_t offset_of(const ZipMember& member) const;

 private:
  [[noreturn]] void bad(const ZipMember& member, const std::string& why) const;
  [[noreturn]] void damaged(const ZipMember& member, const std::string& why) const;
  void decompress(const ZipMember& member, std::span<std::byte> into, bool is_all) const;

  std::shared_ptr<const InputFile> file_;
  std::vector<ZipMember> members_;
};

}  // namespace trainrt::data
