#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trainrt::io {

/// Computes the XXH3-128 digest (Collet, xxHash 0.8) of a stream of bytes: 32 hexadecimal digits, as printed by `xxhsum
/// -H2 FILE`. Detects accidental corruption, not deliberate changes.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  void update(std::span<const std::byte> bytes);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the XXH3-128 digest of `bytes` as 32 hexadecimal digits.
std::string digest_of(std::string_view bytes);
std::string digest_of(std::span<const std::byte> bytes);

/// Size and XXH3-128 digest of a file.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::string hex;
};
/// Returns the size and the XXH3-128 digest of the file `path`, which is read in pieces of 1 MiB. Throws Error if the
/// file cannot be read.
FileDigest digest_of_file(const std::string& path);

}  // namespace trainrt::io
