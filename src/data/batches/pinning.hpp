#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace trainrt::data {

/// Locks memory of batches in place, so that a GPU copies from it by itself. Called by several threads at once.
struct Pinning {
  std::function<bool(std::span<std::byte>)> pin;    ///< false if the system does not let it
  std::function<void(std::span<std::byte>)> unpin;  ///< what pin() has locked, perhaps after it was freed
};

/// The lock on the memory of one column, which is used for many batches.
class PinnedValues {
 public:
  PinnedValues() = default;
  ~PinnedValues() { release(); }
  PinnedValues(PinnedValues&& other) noexcept { *this = std::move(other); }
  PinnedValues& operator=(PinnedValues&& other) noexcept;

  /// Before `values` are filled: room for so many bytes, so that they stay where they are.
  void make_room(std::vector<std::byte>& values, std::size_t bytes);
  /// After that: locks the memory, unless it is locked, is small, or is another one each time.
  void follow(const Pinning& pinning, std::vector<std::byte>& values);

 private:
  void release();

  const Pinning* pinning_ = nullptr;  ///< of what is locked
  std::span<std::byte> memory_;       ///< as it was last seen
  int moves_ = 0;
};

}  // namespace trainrt::data
