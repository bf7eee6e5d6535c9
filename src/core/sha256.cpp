#include "core/sha256.hpp"

#include <dlfcn.h>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt {

namespace {

constexpr auto crypto_library = "libcrypto.so.3";
using Sha256 = unsigned char*(const unsigned char* bytes, std::size_t count, unsigned char* digest);

Sha256* load_sha256() {
  void* const library = dlopen(crypto_library, RTLD_NOW | RTLD_LOCAL);
  auto* const function = library == nullptr ? nullptr : reinterpret_cast<Sha256*>(dlsym(library, "SHA256"));
  if (function == nullptr)
    throw UsageError(
        fmt::format("SHA-256 is computed by {}, which cannot be loaded: install the package libssl3", crypto_library));
  return function;
}

}  // namespace

std::array<std::uint8_t, 32> sha256_of(std::span<const std::byte> bytes) {
  static Sha256* const function = load_sha256();
  std::array<std::uint8_t, 32> digest{};
  function(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string sha256_digits(std::span<const std::byte> bytes) {
  std::string digits;
  for (const auto byte : sha256_of(bytes)) digits += fmt::format("{:02x}", byte);
  return digits;
}

}  // namespace trainrt
