#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace trainrt::data {

/// Where the values of one sample lie in a ValueArena.
struct ValuePlace {
  std::uint64_t at = 0, bytes = 0;
};

/// Memory that processes share, each at an address of its own, and that is given out piece by piece, never to be given
/// back. What a process took that dies is lost.
class ValueArena {
 public:
  /// Bytes of the memory that has room for so many bytes of values.
  static std::size_t memory_bytes(std::uint64_t room) { return room == 0 ? 0 : line + static_cast<std::size_t>(room); }

  /// In zeroed memory, which begins where a u64 may.
  ValueArena(std::byte* memory, std::uint64_t room) : memory_(memory), room_(room) {}
  /// Where so many bytes begin that nobody else has; nothing if there are no more.
  std::optional<std::uint64_t> take(std::uint64_t bytes) const {
    const std::atomic_ref<std::uint64_t> used(*reinterpret_cast<std::uint64_t*>(memory_));
    auto at = used.load();
    do
      if (bytes > room_ - at) return std::nullopt;
    while (!used.compare_exchange_weak(at, at + bytes));
    return at;
  }
  std::byte* values(std::uint64_t at) const { return memory_ + line + at; }

 private:
  static constexpr std::size_t line = 64;  // of the processor's cache: in front of the values, how many bytes are taken

  std::byte* memory_;
  std::uint64_t room_;
};

}  // namespace trainrt::data
