#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace trainrt::data {

/// Decompresses zlib data (RFC 1950) into `out`, and verifies the checksum of the data. `out` must have exactly the size
/// of the decompressed data. Uses libdeflate if the build found it, otherwise zlib. Thread-safe. Throws Error with a
/// message such as "the compressed data is damaged"; the caller puts the name of the data in front.
void inflate_all(std::span<const std::byte> in, std::span<std::byte> out);

enum class DeflateForm : std::uint8_t {
  raw,   ///< RFC 1951: a member of a zip archive
  gzip,  ///< RFC 1952: one or more members; bytes after the last member are ignored
};

/// The state of compressed data after inflate_into().
struct Inflated {
  std::uint64_t bytes = 0;   ///< number of decompressed bytes, including those not stored in `out`
  bool is_cut = false;       ///< the input ended before the end of the compressed data
  bool is_complete = false;  ///< the compressed data ended exactly at the end of the input
};

/// Decompresses `in` with zlib until `max_bytes` bytes were decompressed or the data end. Stores the first bytes in `out`
/// until it is full, and only counts the others. Verifies the checksum of gzip only if the end of the data is reached.
/// Throws Error, with a message such as "the compressed data cannot be decompressed", if the data are damaged or a
/// checksum differs.
Inflated inflate_into(std::span<const std::byte> in, std::span<std::byte> out, DeflateForm form, std::uint64_t max_bytes);

/// Returns the next piece of compressed data, or an empty span at the end of the data. The piece must be valid until the
/// next call.
using NextPiece = std::function<std::span<const std::byte>()>;

/// Like inflate_into(), but for raw Deflate data (RFC 1951) that are read in pieces.
Inflated inflate_pieces(const NextPiece& next, std::span<std::byte> out, std::uint64_t max_bytes);

/// Maximum number of bytes to which one byte of Deflate data can expand (zlib's technical details). If a header claims
/// more, the data are damaged.
inline constexpr std::uint64_t max_inflation = 1032;

}  // namespace trainrt::data
