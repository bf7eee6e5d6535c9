#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainrt::data {

/// Decompresses zlib data (RFC 1950) into `out`, and verifies the checksum of the data. `out` must have exactly the size
/// of the decompressed data. Uses libdeflate if the build found it, otherwise zlib. Thread-safe. Throws Error with a
/// message such as "its compressed data is damaged"; the caller puts the name of the data in front.
void inflate_all(std::span<const std::byte> in, std::span<std::byte> out);

/// Returns the library that inflate_all() uses: "libdeflate" or "zlib".
std::string_view inflate_library();

/// Maximum number of bytes to which one byte of Deflate data can expand (zlib's technical details). If a header claims
/// more, the data are damaged.
inline constexpr std::uint64_t max_inflation = 1032;

}  // namespace trainrt::data
