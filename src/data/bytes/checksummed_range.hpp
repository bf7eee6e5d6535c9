#pragma once
#include <cstdint>
#include <string>

namespace trainrt::data {

/// Bytes of a file whose CRC-32 (RFC 1952) the file stores, for all of them together: a member of a zip archive. A reader
/// of a part of these bytes cannot verify it.
struct ChecksummedRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  std::string what;  ///< begins messages: "NPZ file x.npz: the member 'y.npy'"
};

}  // namespace trainrt::data
