#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// Returns the CRC-32 (RFC 1952) of the concatenation of some bytes with CRC-32 `before` and of `bytes`. Uses libdeflate
/// if the build found it, else zlib, which is slower.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Returns the CRC-32 of the concatenation of two byte ranges, of which `first` and `second` are the CRC-32. The second
/// range has `second_bytes` bytes.
std::uint32_t concatenated_crc32(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace trainrt::data
