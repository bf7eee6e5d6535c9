#pragma once
#include <memory>
#include <string>

#include <trainrt/error.hpp>

#include "device/runtime.hpp"

namespace trainrt::test {

/// Copies bytes from a GPU's memory to the host after all work that is enqueued on its default stream, and waits for the
/// copy.
inline void get(device::Runtime& gpus, int gpu, void* to, const void* from, std::size_t bytes) {
  const auto stream = gpus.default_stream(gpu);
  if (bytes > 0) stream->to_host(to, from, bytes);
  if (!device::wait_within(*stream->record(), 30)) throw Error("a copy from the GPU did not complete within 30 s");
}

/// Memory of a GPU that is filled with `bytes`. Copies are enqueued on the default stream; only bytes() and the destructor
/// wait.
class OnGpu {
 public:
  OnGpu(device::Runtime& gpus, int gpu, std::string bytes)
      : stream_(gpus.default_stream(gpu)), sent_(std::move(bytes)), memory_(gpus.allocate(gpu, sent_.size())) {
    stream_->to_device(memory_.get(), sent_.data(), sent_.size());
  }
  ~OnGpu() { device::wait_within(*stream_->record(), 30); }
  std::byte* data() const { return memory_.get(); }
  std::string bytes() const {
    std::string back(sent_.size(), '\0');
    stream_->to_host(back.data(), memory_.get(), back.size());
    if (!device::wait_within(*stream_->record(), 30)) throw Error("the GPU did not complete its work within 30 s");
    return back;
  }

 private:
  std::unique_ptr<device::Stream> stream_;
  std::string sent_;
  Memory memory_;
};

}  // namespace trainrt::test
