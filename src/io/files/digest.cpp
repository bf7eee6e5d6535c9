#include "io/files/digest.hpp"

#include <xxhash.h>
#ifdef TRAINRT_XXHASH_DISPATCHES
#include <xxh_x86dispatch.h>  // xxHash's functions, with the widest vector instructions that the processor has
#endif

#include <new>
#include <vector>

#include "io/files/file.hpp"

namespace trainrt::io {

namespace {

std::string to_hex(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

struct Digest::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
};

Digest::Digest() : state_(std::make_unique<State>()) {}
Digest::~Digest() = default;
void Digest::update(std::span<const std::byte> bytes) { XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size()); }
std::string Digest::hex() const { return to_hex(XXH3_128bits_digest(state_->xxh)); }

std::string digest_of(std::string_view bytes) { return to_hex(XXH3_128bits(bytes.data(), bytes.size())); }
std::string digest_of(std::span<const std::byte> bytes) { return to_hex(XXH3_128bits(bytes.data(), bytes.size())); }

FileDigest digest_of_file(const std::string& path) {
  FileReader file(path);
  Digest digest;
  std::vector<std::byte> piece(std::size_t{1} << 20);
  FileDigest result;
  while (const auto count = file.read(piece)) {
    digest.update(std::span(piece).first(count));
    result.bytes += count;
  }
  result.hex = digest.hex();
  return result;
}

}  // namespace trainrt::io
