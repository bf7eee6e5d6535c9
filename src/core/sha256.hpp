#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace trainrt {

/// SHA-256 (FIPS 180-4) by OpenSSL's libcrypto, which is loaded at the first call. Throws UsageError that names the package
/// if it is not there. Any thread.
std::array<std::uint8_t, 32> sha256_of(std::span<const std::byte> bytes);

/// The same as 64 hexadecimal digits.
std::string sha256_digits(std::span<const std::byte> bytes);

}  // namespace trainrt
