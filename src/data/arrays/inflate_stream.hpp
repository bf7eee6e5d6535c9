#pragma once
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Decompresses a part of a file piece by piece, in bounded memory. Used by one thread.
class InflateStream {
 public:
  enum class Form : std::uint8_t {
    deflate,  ///< RFC 1951: a member of a zip archive
    gzip,     ///< RFC 1952: one or more members; bytes after the last member are ignored
  };
  /// Decompresses the `bytes` bytes of `file` from `offset` on. `file` must outlive this object.
  InflateStream(const InputFile& file, std::uint64_t offset, std::uint64_t bytes, Form form);
  ~InflateStream() { inflateEnd(&stream_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  /// Fills `into` with the next decompressed bytes. Returns the rest of `into` that was not filled, which is empty unless
  /// the data have ended. Throws Error if the data are damaged or if gzip's checksum differs.
  std::span<std::byte> read(std::span<std::byte> into);
  /// Decompresses at most `limit` further bytes without keeping them, and returns their number. Throws as read() does.
  std::uint64_t skip(std::uint64_t limit);
  /// Returns whether the input bytes ended before the compressed data was complete.
  bool is_cut() const { return is_cut_; }
  /// Returns whether the compressed data is complete and ends exactly at the last input byte.
  bool is_complete() const { return code_ == Z_STREAM_END && stream_.avail_in == 0 && offset_ == end_; }

 private:
  void refill();
  bool begin_next_member();

  const InputFile& file_;
  std::uint64_t offset_, end_;
  Form form_;
  std::vector<std::byte> packed_;
  z_stream stream_{};
  int code_ = Z_OK;
  bool is_cut_ = false;
};

}  // namespace trainrt::data
