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

/// Copies between the host and the GPUs, on streams of its own, one a GPU, beside whatever the GPUs compute. Thread-safe.
/// It touches no GPU before the first copy. Failures of a device throw Error.
class Copier {
 public:
  explicit Copier(Runtime& runtime = device::runtime()) : runtime_(runtime) {}
  ~Copier();
  Copier(const Copier&) = delete;

  Runtime& runtime() const { return runtime_; }

  /// Copies from now on come after all that the GPUs' default streams have been given up to now. Work on other streams is
  /// for its owner to wait for.
  void follow_default_streams();

  void to_host(void* to, const void* from, int gpu, std::size_t bytes);
  void to_device(void* to, int gpu, const void* from, std::size_t bytes);
  /// What tells that all copies up to now are done, any thread's.
  Events mark();

  /// Locks memory of the host in place, so that copies from and to it need no other memory and do not hold the caller; for
  /// as long as this object lives, which ends before the memory. Once is enough. If the system refuses, copies are only
  /// slower.
  void pin(std::span<std::byte> memory);

 private:
  struct Lane {
    std::unique_ptr<Stream> stream;
    std::uint64_t follows = 0;  // the last follow_default_streams() that it has heeded
  };
  Stream& stream_of(int gpu);

  Runtime& runtime_;
  std::mutex mutex_;
  std::map<int, Lane> lanes_;
  std::uint64_t follows_ = 0;
  std::set<std::byte*> seen_;  // by pin()
  std::vector<std::span<std::byte>> pinned_;
};

/// So long may a GPU take for the copies that are waited for at once.
inline constexpr double most_copy_s = 300;

/// Waits for all; throws GpuStalled that says `what` has come to a halt if limit_seconds pass.
void wait_all(const Events& events, double limit_seconds, std::string_view what);

}  // namespace trainrt::device
