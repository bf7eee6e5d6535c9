#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace trainrt::io {

/// What direct I/O asks of addresses, offsets and sizes: a page, which every file system here takes.
inline constexpr std::size_t io_alignment = 4096;

constexpr std::uint64_t align_down(std::uint64_t value) { return value / io_alignment * io_alignment; }
constexpr std::uint64_t align_up(std::uint64_t value) { return align_down(value + io_alignment - 1); }

/// Memory for direct I/O, in huge pages if the system has them. What is touched is there: copying into it costs what
/// memcpy costs. The rest is addresses only. Throws Error if the system has no more.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Touches the first `touched` bytes: all, unless that is less.
  explicit AlignedMemory(std::size_t bytes, std::size_t touched = std::numeric_limits<std::size_t>::max());
  std::span<std::byte> bytes() const { return {data_.get(), data_ ? data_.get_deleter().size : 0}; }
  /// The first `count` bytes, or all: from now on they are there.
  void touch(std::size_t count);

 private:
  struct Unmap {
    std::size_t size;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  std::size_t touched_ = 0;  // whole pages, from the first on
};

}  // namespace trainrt::io
