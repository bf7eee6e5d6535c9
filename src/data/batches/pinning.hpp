#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace trainrt::data {

/// Functions that lock the memory of batches (pinned memory), so that a GPU can copy from it directly. Called by several
/// threads at the same time.
struct Pinning {
  std::function<bool(std::span<std::byte>)> pin;    ///< returns false if the system refuses to lock the memory
  std::function<void(std::span<std::byte>)> unpin;  ///< unlocks memory that pin() has locked, even if it is already freed
};

/// A lock on the memory of one column, which is reused for many batches. Not thread-safe.
class PinnedValues {
 public:
  PinnedValues() = default;
  ~PinnedValues() { release(); }
  PinnedValues(PinnedValues&& other) noexcept { *this = std::move(other); }
  PinnedValues& operator=(PinnedValues&& other) noexcept;

  /// Reserves memory for `bytes` bytes in `values`, so that `values` keeps its address while it is filled. May clear
  /// `values`.
  void make_room(std::vector<std::byte>& values, std::size_t bytes);
  /// Locks the memory of `values`, which must have their final size. Does nothing if the memory is already locked, is
  /// small, or has changed its address too often.
  void pin(const Pinning& pinning, std::vector<std::byte>& values);

 private:
  void release();

  const Pinning* pinning_ = nullptr;  ///< nullptr: the memory is not locked
  std::span<std::byte> memory_;       ///< memory of `values` at the last call of pin()
  int moves_ = 0;
};

}  // namespace trainrt::data
