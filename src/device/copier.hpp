#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "device/runtime.hpp"

namespace trainrt::device {

/// Copies data between host memory and the GPUs of this process, concurrently with the computation on the GPUs. Each GPU
/// has its own copy stream, which is created at the first copy from or to that GPU. Thread-safe. Throws Error if a GPU
/// fails.
class Copier {
 public:
  explicit Copier(Runtime& runtime = device::runtime()) : runtime_(runtime) {}
  ~Copier();
  Copier(const Copier&) = delete;

  Runtime& runtime() const { return runtime_; }

  /// Orders later copies after all work that was enqueued on the GPUs' default streams before this call. Copies do not wait
  /// for work on other streams: the caller must wait for such work.
  void follow_default_streams();

  /// to_host() and to_device() enqueue a copy of `bytes` bytes from or to memory of `gpu`, and return. Both memory ranges
  /// must stay valid until the copy is complete, see record().
  void to_host(void* to, const void* from, int gpu, std::size_t bytes);
  void to_device(void* to, int gpu, const void* from, std::size_t bytes);
  /// Returns one event per GPU that has been used so far. The events are reached when all copies that any thread enqueued
  /// before this call are complete.
  Events record();

  /// Pins (page-locks) host memory for the lifetime of this Copier, which must end before the memory is freed. Copies from
  /// and to pinned memory are asynchronous and need no intermediate buffer. If the system refuses to pin the memory, copies
  /// are only slower. Repeated calls for the same memory do nothing.
  void pin(std::span<std::byte> memory);

 private:
  struct Lane {
    std::unique_ptr<Stream> stream;
    std::uint64_t follows = 0;  // number of the last follow_default_streams() call that was applied to `stream`
  };
  Stream& stream_of(int gpu);

  Runtime& runtime_;
  std::mutex mutex_;
  std::map<int, Lane> lanes_;
  std::uint64_t follows_ = 0;
  std::set<std::byte*> pin_requested_;
  std::vector<std::span<std::byte>> pinned_;
};

/// Timeout in seconds that callers pass to wait_all() for copies between the host and a GPU.
inline constexpr double max_copy_s = 300;

/// Waits until all `events` are reached, one after the other. Throws GpuStalled if the wait for one event takes longer than
/// `limit_seconds` seconds. `operation`: name of the awaited work in the error message.
void wait_all(const Events& events, double limit_seconds, std::string_view operation);

}  // namespace trainrt::device
