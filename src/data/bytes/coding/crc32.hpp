#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// Returns the CRC-32 (RFC 1952) of `bytes`; `before`: that of the bytes in front of them. By libdeflate if the build found
/// it, else by zlib, which is slower.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Returns the CRC-32 of two runs of bytes, one after the other, from their own. `second_bytes`: the length of the second.
std::uint32_t joined_crc32(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace trainrt::data
