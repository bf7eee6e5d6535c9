#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainrt::data {

/// Decompresses zlib data (RFC 1950) into `out`, which must have exactly the size of the result, and verifies the
/// checksum of the data. Uses libdeflate if the build found it, else zlib. Thread-safe. Throws Error, with a reason that
/// the caller's message completes: "its compressed data is damaged".
void inflate_all(std::span<const std::byte> in, std::span<std::byte> out);

/// Returns the library that inflate_all() uses: "libdeflate" or "zlib".
std::string_view inflate_library();

/// Maximum number of bytes that one byte of Deflate data can expand to (zlib's technical details). Data for which a header
/// claims more are damaged.
inline constexpr std::uint64_t max_inflation = 1032;

}  // namespace trainrt::data
