#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// What is in memory of a file that is walked through from its beginning to its end: if small steps are made it is read
/// in large pieces, and if large ones are, only what is asked for.
class TarWindow {
 public:
  explicit TarWindow(const InputFile& file) : file_(file) {}

  /// So many bytes, which lie in the file; valid until the next call.
  std::span<const std::byte> at(std::uint64_t offset, std::uint64_t count) {
    if (offset < begin_ || offset + count > begin_ + bytes_.size()) load(offset, count);
    return std::span(bytes_).subspan(offset - begin_, count);
  }
  /// As many of so many bytes as are there anyway.
  std::span<const std::byte> have(std::uint64_t offset, std::uint64_t count) const {
    if (offset < begin_ || offset >= begin_ + bytes_.size()) return {};
    return std::span(bytes_).subspan(offset - begin_, std::min<std::uint64_t>(count, begin_ + bytes_.size() - offset));
  }

 private:
  static constexpr std::uint64_t small_step = 16 << 10, little = 2 << 10, much = 256 << 10;

  void load(std::uint64_t offset, std::uint64_t count) {
    const bool is_near = offset < begin_ + bytes_.size() + small_step;
    const auto wanted = std::min(std::max(count, is_near ? much : little), file_.size() - offset);
    bytes_.resize(wanted);
    begin_ = offset;
    file_.read(offset, bytes_);
  }

  const InputFile& file_;
  std::vector<std::byte> bytes_;
  std::uint64_t begin_ = 0;
};

}  // namespace trainrt::data
