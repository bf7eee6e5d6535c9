#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// How token ids stand in a file.
struct TokenType {
  std::size_t bytes = 2;
  bool is_signed = false;
  bool is_big_endian = false;

  /// The narrowest type for train functions that holds them all, i32 for u32, too.
  DType widened() const;
};

/// A file of token ids, one after the other: a flat one, or a .npy file of one axis of integers.
class TokenFile {
 public:
  /// `type`: u8, u16, u32, i32 or i64; "": u16, or what the .npy file says. Flat files begin with `header_bytes` of
  /// something else. Throws UsageError that names the file if its bytes are no whole tokens, or a .npy file holds something
  /// else.
  TokenFile(const DataFile& file, std::string_view type, std::uint64_t header_bytes);

  std::uint64_t size() const { return size_; }  ///< tokens
  const TokenType& type() const { return type_; }
  const std::string& path() const { return file_->path(); }
  /// Whether an id can stand in the file, and be given to a train function.
  bool can_hold(std::int64_t id) const;

  /// Reads all tokens into memory.
  void keep();
  bool is_resident() const { return !kept_.empty() || size_ == 0; }

  /// Tokens as they stand in the file, in memory or read into `scratch`; valid as long as that. Any threads may read at
  /// once.
  std::span<const std::byte> raw(std::uint64_t first, std::uint64_t count, std::vector<std::byte>& scratch) const;
  /// Runs of tokens, each as raw() gives it: read together.
  struct Run {
    std::uint64_t first = 0, count = 0;
    std::span<const std::byte> raw;
  };
  void read(std::span<Run> runs, std::vector<std::byte>& scratch) const;
  /// Runs that it is worth to read together.
  std::size_t most_together() const { return is_resident() ? 1 : file_->max_in_flight(); }
  /// Writes tokens in their widened type. An id that it does not hold is an Error that names file, token and id.
  void widen(std::span<const std::byte> raw, std::uint64_t first, std::byte* out) const;

  /// Calls `found` with the place of each token with that id, in order; reads the whole file.
  void find_all(std::int64_t id, const std::function<void(std::uint64_t)>& found) const;

 private:
  void take_npy_header();

  std::shared_ptr<const InputFile> file_;
  TokenType type_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  std::vector<std::byte> kept_;
};

}  // namespace trainrt::data
