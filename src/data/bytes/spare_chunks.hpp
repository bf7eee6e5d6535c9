#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace trainrt::data {

/// The memory of chunks that nobody uses any more, for those that are made next: memory that is new to the process costs a
/// page fault for every 4 KiB of it. Any threads may call.
class SpareChunks : public std::enable_shared_from_this<SpareChunks> {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;
  /// Their memory comes back here when the last user is gone, whether this object lives then or not.
  Values kept(std::vector<std::byte> values);
  /// `bytes` bytes, which may hold anything.
  std::vector<std::byte> take(std::size_t bytes);
  /// What is spare takes no more than this.
  void allow(std::uint64_t bytes);

 private:
  void give(std::vector<std::byte> values);

  std::mutex mutex_;
  std::vector<std::vector<std::byte>> spare_;
  std::uint64_t bytes_ = 0, allowed_ = 0;
};

}  // namespace trainrt::data
