#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainrt::data {

/// Decompresses zlib data (RFC 1950), which must give exactly `out`; its checksum is verified. Throws Error that says what
/// is wrong. Any threads may call it. By libdeflate if the build found it, else by zlib.
void inflate_all(std::span<const std::byte> in, std::span<std::byte> out);

/// "libdeflate" or "zlib".
std::string_view inflate_library();

/// The largest factor by which deflate compresses (zlib's technical details): data that claims a larger one is damaged.
inline constexpr std::uint64_t max_inflation = 1032;

}  // namespace trainrt::data
