#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// Continues a checksum: returns the CRC-32 (RFC 1952) of some earlier bytes followed by `bytes`. `before` is the
/// CRC-32 of the earlier bytes. Uses libdeflate if the build found it, otherwise zlib, which is slower.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Returns the CRC-32 of two byte ranges that follow one another. `first` and `second` are the CRC-32 of the two
/// ranges, and `second_bytes` is the size of the second range.
std::uint32_t concatenated_crc32(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace trainrt::data
