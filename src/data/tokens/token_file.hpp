#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// The type of the token ids in a file.
struct TokenType {
  std::size_t bytes = 2;
  bool is_signed = false;
  bool is_big_endian = false;

  /// Returns the type of the ids in batches: the narrowest type that train functions support and that can represent all
  /// ids of this type. The exception is u32, which becomes i32: widen() refuses ids that i32 cannot represent.
  DType widened() const;
};

/// A file of token ids: a flat file, which contains only ids, or a .npy file with one axis of integers. Several threads may
/// read at the same time.
class TokenFile {
 public:
  /// `type` is u8, u16, u32, i32 or i64. "" means u16 for a flat file, and the type in the header for a .npy file. A flat
  /// file has `header_bytes` bytes before its first token. Throws UsageError, which names the file, if the size of the
  /// tokens is not a multiple of the size of one token, or if a .npy file contains an unsuitable array.
  TokenFile(const DataFile& file, std::string_view type, std::uint64_t header_bytes);

  std::uint64_t size() const { return size_; }  ///< number of tokens
  const TokenType& type() const { return type_; }
  const std::string& path() const { return file_->path(); }
  /// Returns whether `id` fits into the type of the ids in the file and into their type in batches.
  bool can_hold(std::int64_t id) const;

  /// Reads all tokens into memory.
  void keep();
  bool is_resident() const { return !kept_.empty() || size_ == 0; }

  /// A range of consecutive tokens to read.
  struct Run {
    std::uint64_t first = 0, count = 0;
    std::span<const std::byte> raw;  ///< set by read(): the tokens in the file's type and this machine's byte order
  };
  /// Reads `runs` at the same time. Sets `raw` of each run, which refers to memory of this object or to `scratch`.
  void read(std::span<Run> runs, std::vector<std::byte>& scratch) const;
  /// Returns the maximum number of runs (ranges of tokens) that read() can read at the same time.
  std::size_t max_parallel_runs() const { return is_resident() ? 1 : file_->max_in_flight(); }
  /// Converts the tokens `raw` to their type in batches (TokenType::widened()) and writes them to `out`. `first` is the
  /// index of the first token in the file. Throws UsageError, which names file, token and id, if an id is too large for
  /// this type.
  void widen(std::span<const std::byte> raw, std::uint64_t first, std::byte* out) const;

  /// Reads the complete file. Calls `found` with the index of each token that is equal to `id`, in order.
  void find_all(std::int64_t id, const std::function<void(std::uint64_t)>& found) const;

 private:
  void read_npy_header();

  std::shared_ptr<const InputFile> file_;
  TokenType type_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  std::vector<std::byte> kept_;
};

}  // namespace trainrt::data
