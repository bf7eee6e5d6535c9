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

/// Copies data between the host and the GPUs, on one own stream per GPU, concurrently with the computation on the GPUs. No
/// GPU is used before the first copy. Thread-safe. Throws Error if a GPU fails.
class Copier {
 public:
  explicit Copier(Runtime& runtime = device::runtime()) : runtime_(runtime) {}
  ~Copier();
  Copier(const Copier&) = delete;

  Runtime& runtime() const { return runtime_; }

  /// Makes copies enqueued after this call run after all work that was enqueued on the GPUs' default streams before it. The
  /// caller must wait for work on other streams.
  void follow_default_streams();

  /// Enqueue a copy and return. Memory must stay valid until the copy is complete.
  void to_host(void* to, const void* from, int gpu, std::size_t bytes);
  void to_device(void* to, int gpu, const void* from, std::size_t bytes);
  /// Returns events that are reached when all copies enqueued so far, by any thread, are complete.
  Events record();

  /// Pins host memory for the lifetime of this object, which must end before that of the memory. Copies of pinned memory
  /// are asynchronous and need no intermediate buffer. If the system refuses, copies are only slower. Repeated calls for
  /// the same memory do nothing.
  void pin(std::span<std::byte> memory);

 private:
  struct Lane {
    std::unique_ptr<Stream> stream;
    std::uint64_t follows = 0;  // number of the last follow_default_streams() that was applied to the stream
  };
  Stream& stream_of(int gpu);

  Runtime& runtime_;
  std::mutex mutex_;
  std::map<int, Lane> lanes_;
  std::uint64_t follows_ = 0;
  std::set<std::byte*> pin_requested_;
  std::vector<std::span<std::byte>> pinned_;
};

/// Timeout for the copies of one wait_all(), in seconds.
inline constexpr double max_copy_s = 300;

/// Waits until all events are reached. Throws GpuStalled if that takes longer than `limit_seconds` for an event;
/// `operation` names the wait in the message.
void wait_all(const Events& events, double limit_seconds, std::string_view operation);

}  // namespace trainrt::device
