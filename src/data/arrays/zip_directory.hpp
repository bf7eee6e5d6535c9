#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// A member of a zip archive, as its central directory describes it.
struct ZipMember {
  std::string name;
  std::uint64_t bytes = 0;  ///< unpacked
  std::uint64_t packed_bytes = 0;
  std::uint64_t header = 0;  ///< offset of its local header in the file
  std::uint32_t crc32 = 0;   ///< of the unpacked bytes
  std::uint16_t method = 0;  ///< of compression
  std::uint16_t flags = 0;
  bool is_stored = false;  ///< not compressed
};

/// Returns the members of a zip archive (PKWARE's APPNOTE 6.3.3), with Zip64, in the order of its directory. Debian's
/// minizip 1.1 cannot read members and offsets from 4 GiB on. Throws UsageError that names the file and what is wrong.
std::vector<ZipMember> zip_directory(const InputFile& file);

/// Little-endian numbers in the bytes of a header, which must be there.
class ZipFields {
 public:
  explicit ZipFields(std::string_view bytes) : bytes_(bytes) {}
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, sizeof(std::uint16_t))); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, sizeof(std::uint32_t))); }
  std::uint64_t u64(std::size_t at) const { return number(at, sizeof(std::uint64_t)); }

 private:
  std::uint64_t number(std::size_t at, std::size_t bytes) const {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_.at(at + i));
    return value;
  }
  std::string_view bytes_;
};

/// Stands in a 32-bit field whose value is in the Zip64 fields.
inline constexpr std::uint32_t zip64_marker = 0xffffffff;

/// Returns `bytes` bytes of the file from `offset` on.
std::string zip_bytes(const InputFile& file, std::uint64_t offset, std::uint64_t bytes);

}  // namespace trainrt::data
