#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace trainrt::data {

/// Position of the values of one sample in a ValueArena.
struct ValuePlace {
  std::uint64_t at = 0, bytes = 0;
};

/// Memory that several processes share and allocate from. Allocations are never freed; those of a process that dies are
/// lost. The processes may map the memory at different addresses.
class ValueArena {
 public:
  /// Returns the number of bytes of memory for an arena with `capacity` bytes of values.
  static std::size_t memory_bytes(std::uint64_t capacity) {
    return capacity == 0 ? 0 : line + static_cast<std::size_t>(capacity);
  }

  /// `memory` must be zeroed before the first use, and aligned for a u64.
  ValueArena(std::byte* memory, std::uint64_t capacity) : memory_(memory), capacity_(capacity) {}
  /// Allocates `bytes` bytes and returns their position, or nullopt if the arena has too few left.
  std::optional<std::uint64_t> take(std::uint64_t bytes) const {
    const std::atomic_ref<std::uint64_t> used(*reinterpret_cast<std::uint64_t*>(memory_));
    auto at = used.load();
    do
      if (bytes > capacity_ - at) return std::nullopt;
    while (!used.compare_exchange_weak(at, at + bytes));
    return at;
  }
  std::byte* values(std::uint64_t at) const { return memory_ + line + at; }

 private:
  static constexpr std::size_t line = 64;  ///< a cache line before the values, for the number of allocated bytes

  std::byte* memory_;
  std::uint64_t capacity_;
};

}  // namespace trainrt::data
