#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace trainrt {

/// Returns the SHA-256 hash (FIPS 180-4) of `bytes`, computed by OpenSSL's libcrypto, which the first call loads. Throws
/// UsageError that names the package to install if the library is missing. Any thread may call it.
std::array<std::uint8_t, 32> sha256_of(std::span<const std::byte> bytes);

/// Returns sha256_of() as 64 hexadecimal digits.
std::string sha256_digits(std::span<const std::byte> bytes);

}  // namespace trainrt
