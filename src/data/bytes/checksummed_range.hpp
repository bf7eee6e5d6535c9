#pragma once
#include <cstdint>
#include <string>

namespace trainrt::data {

/// A byte range of a file for which the file stores one CRC-32 (RFC 1952), such as a member of a zip archive. A reader of
/// a part of the range cannot verify that part by this checksum alone.
struct ChecksummedRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  std::string what;  ///< subject of error messages: "NPZ file x.npz: the member 'y.npy'"
};

}  // namespace trainrt::data
