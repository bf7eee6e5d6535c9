#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace trainrt {

/// Returns the SHA-256 hash (FIPS 180-4) of `bytes`, computed by OpenSSL's libcrypto. The first call loads libcrypto.
/// Throws UsageError, which names the package to install, if libcrypto is missing. Thread-safe.
std::array<std::uint8_t, 32> sha256_of(std::span<const std::byte> bytes);

/// Returns the SHA-256 hash of `bytes` as 64 hexadecimal digits. Throws as sha256_of() does.
std::string sha256_digits(std::span<const std::byte> bytes);

}  // namespace trainrt
