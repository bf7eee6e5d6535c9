#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace trainrt::io {

/// Alignment of addresses, offsets and sizes in direct I/O, in bytes: a page, which all supported file systems accept.
inline constexpr std::size_t io_alignment = 4096;

constexpr std::uint64_t align_down(std::uint64_t value) { return value / io_alignment * io_alignment; }
constexpr std::uint64_t align_up(std::uint64_t value) { return align_down(value + io_alignment - 1); }

/// Owns page-aligned memory for direct I/O, in huge pages if the system has them. The touched part has physical memory, so
/// that writing to it causes no page fault; the rest only reserves addresses. Throws StorageError if the system has no
/// memory left.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Touches the first `touched` bytes, or all if that is more than `bytes`.
  explicit AlignedMemory(std::size_t bytes, std::size_t touched = std::numeric_limits<std::size_t>::max());
  std::span<std::byte> bytes() const { return {data_.get(), data_ ? data_.get_deleter().size : 0}; }
  /// Gives the first `count` bytes (at most all) physical memory.
  void touch(std::size_t count);

 private:
  struct Unmap {
    std::size_t size;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  std::size_t touched_ = 0;  // bytes from the beginning, a multiple of the page size
};

}  // namespace trainrt::io
