#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "support/cpp/on_gpu.hpp"
#include "unit/trainer/runs.hpp"

namespace trainrt::test {

/// Field x of the batches of one epoch of [data.train], as one rank received it.
struct CopiedBatches {
  std::vector<std::size_t> hashes;  ///< hash of the bytes in host memory, per batch
  bool arrived = true;              ///< for all batches, the bytes on the GPU equal those of the batch
  double enqueue_s = 0,
         copy_s = 0;  ///< seconds of the fastest copy, until the call returned and until the bytes had arrived
};

namespace batches_on_gpu {

inline CopiedBatches seen;
inline std::function<void()> on_batch;

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Copies `host` to GPU memory `memory` and back, and records the times and whether the bytes are equal.
inline void copy(device::Stream& stream, std::byte* memory, std::string_view host) {
  const auto start = std::chrono::steady_clock::now();
  stream.to_device(memory, host.data(), host.size());
  const auto enqueue_s = seconds_since(start);
  bool arrived = device::wait_within(*stream.record(), 60);
  const auto copy_s = seconds_since(start);
  std::string back(host.size(), '\0');
  stream.to_host(back.data(), memory, back.size());
  arrived = device::wait_within(*stream.record(), 60) && arrived;
  seen.arrived = seen.arrived && arrived && back == host;
  if (seen.copy_s != 0 && copy_s >= seen.copy_s) return;
  seen.enqueue_s = enqueue_s;
  seen.copy_s = copy_s;
}

/// A train function that copies each batch to the GPU of the rank and back, if the rank has one.
inline void copy_batches(Context& ctx) {
  auto data = ctx.dataset("train");
  const auto gpus = ctx.gpus();
  const auto stream = gpus.empty() ? nullptr : device::runtime().make_stream(gpus.front());
  Memory memory;
  std::size_t room = 0;
  for (const auto& batch : data.epoch(0).batches(20)) {
    const auto view = batch.field("x");
    const auto bytes = static_cast<std::size_t>(view.shape[0] * view.shape[1]) * sizeof(float);
    const std::string_view host(static_cast<const char*>(view.data), bytes);
    seen.hashes.push_back(std::hash<std::string_view>()(host));
    if (stream && room < bytes) {
      memory = device::runtime().allocate(gpus.front(), room = bytes);
      stream->wait_for(*device::runtime().default_stream(gpus.front())->record());  // allocate() writes zeros there
    }
    if (stream) copy(*stream, memory.get(), host);
    if (on_batch) on_batch();
    ctx.step();
  }
}

}  // namespace batches_on_gpu

/// Runs the train function on one rank with the GPUs of device::runtime(), or on the CPU. `each` is called after each
/// batch.
inline CopiedBatches copied_batches(const std::vector<int>& gpus,
                                    std::initializer_list<std::pair<const char*, const char*>> keys,
                                    const std::function<void()>& each = {}) {
  const Scratch dir;
  batches_on_gpu::seen = {};
  batches_on_gpu::on_batch = each;
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    launch.world().gpus = gpus;
    trainer::run(spec_in(dir.path(), keys), {"test", batches_on_gpu::copy_batches}, launch, *communicator);
  });
  return batches_on_gpu::seen;
}

}  // namespace trainrt::test
