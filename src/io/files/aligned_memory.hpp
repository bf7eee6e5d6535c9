#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace trainrt::io {

/// Alignment in bytes of addresses, offsets and sizes in direct I/O (O_DIRECT): one page, which all supported file
/// systems accept.
inline constexpr std::size_t io_alignment = 4096;

constexpr std::uint64_t align_down(std::uint64_t value) { return value / io_alignment * io_alignment; }
constexpr std::uint64_t align_up(std::uint64_t value) { return align_down(value + io_alignment - 1); }

/// Owns page-aligned memory for direct I/O, on huge pages if the system provides them. The first bytes can be backed by
/// physical memory in advance ("touched"), so that writing to them causes no page faults. The rest is only reserved address
/// space. Throws StorageError if the system is out of memory.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Reserves `bytes` bytes and backs the first `touched` of them (at most all) with physical memory.
  explicit AlignedMemory(std::size_t bytes, std::size_t touched = std::numeric_limits<std::size_t>::max());
  std::span<std::byte> bytes() const { return {data_.get(), data_ ? data_.get_deleter().size : 0}; }
  /// Allocates physical memory for the first `count` bytes, or for all bytes if there are fewer.
  void touch(std::size_t count);

 private:
  struct Unmap {
    std::size_t size;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  std::size_t touched_ = 0;  // number of bytes, from the beginning, that have physical memory; a multiple of the page size
};

}  // namespace trainrt::io
