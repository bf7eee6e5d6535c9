#pragma once
#include "model.hpp"
#include "support/cpp/on_gpu.hpp"

namespace trainrt::test {

/// A Model in GPU memory, except for every third tensor.
class DeviceModel {
 public:
  DeviceModel(device::Runtime& gpus, const std::vector<Spec>& specs, int rank, int size)
      : host(specs, rank, size), gpus_(gpus) {
    int number = 0;
    for (const auto& entry : host.state().tensors()) {
      auto view = entry.local;
      const int gpu = number % gpus.count();
      if (number++ % 3 != 2) {
        auto memory = gpus.allocate(gpu, view.bytes());
        view = TensorView{memory.get(), view.dtype, view.shape, Device::cuda};
        moved_.push_back({entry.local.data, memory, view.bytes(), gpu});
      }
      auto& moved = state.tensor(entry.name, view);
      moved.placement = entry.placement;
      moved.global_shape = entry.global_shape;
      moved.offset = entry.offset;
    }
    state.value("epoch", host.epoch);
    state.value("steps", host.steps);
    state.value("loss", host.loss);
    state.value("done", host.done);
    state.value("note", host.note);
    state.value("nothing", host.nothing);
  }

  /// Waits for the copies of fill(), which read memory of this object.
  ~DeviceModel() {
    for (int gpu = 0; gpu < gpus_.count(); ++gpu) device::wait_within(*gpus_.default_stream(gpu)->record(), 30);
  }
  DeviceModel(const DeviceModel&) = delete;

  /// Enqueues copies on the default streams, as a training step does.
  void fill(std::uint64_t seed) {
    host.fill(seed);
    for (const auto& tensor : moved_) {
      auto& bytes = sent_.emplace_back(static_cast<const char*>(tensor.on_host), tensor.bytes);
      std::memset(tensor.on_host, 0x33, tensor.bytes);  // invalidate the host's copy
      gpus_.default_stream(tensor.gpu)->to_device(tensor.memory.get(), bytes.data(), bytes.size());
    }
  }
  std::string difference(std::uint64_t seed, int writers) {
    for (const auto& tensor : moved_) get(gpus_, tensor.gpu, tensor.on_host, tensor.memory.get(), tensor.bytes);
    return host.difference(seed, writers);
  }

  Model host;
  State state;

 private:
  struct Moved {
    void* on_host;
    Memory memory;
    std::size_t bytes;
    int gpu;
  };
  device::Runtime& gpus_;
  std::vector<Moved> moved_;
  std::deque<std::string> sent_;  // kept until copies are done
};

}  // namespace trainrt::test
