// Checkpoints of tensors on a GPU.
#include <algorithm>
#include <chrono>

#include "checkpoint/load/load.hpp"
#include "checkpoint/save/retention.hpp"
#include "gpu/gpu_test.hpp"
#include "unit/checkpoint/device_model.hpp"
#include "unit/checkpoint/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes a second from the GPU into pinned memory: the best of several.
double pinned_rate(device::Runtime& gpus, const void* from, std::size_t bytes) {
  const auto to = gpus.allocate_pinned(bytes);
  const auto stream = gpus.make_stream(0);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    stream->to_host(to.get(), from, bytes);
    device::wait_within(*stream->record(), 60);
    best = std::min(best, seconds_since(start));
  }
  return static_cast<double>(bytes) / best;
}

}  // namespace

TEST_CASE("a state on GPUs is saved as it was at the step and comes back bit for bit, on any rank count") {
  if (!have_gpus(1, "checkpoints of tensors on GPUs")) return;
  auto& gpus = device::runtime();
  for (const int writers : {1, 2, 3}) {
    Scratch scratch;
    run_ranks(writers, [&](Communicator& communicator) {
      DeviceModel model(gpus, every_kind(), communicator.rank(), communicator.size());
      model.fill(5);
      auto save = options_for(scratch.path(), 0);
      checkpoint::Saver saver(save.saver, communicator);
      const auto failed = saver.start(model.state, {save.meta, {}});
      model.fill(6);  // the step that follows
      const auto result = failed ? *failed : saver.finish().value();
      if (!result.committed) throw Error(result.error);
    });
    for (const int readers : {1, 2, 3}) {
      CAPTURE(writers, readers);
      Findings findings;
      run_ranks(readers, [&](Communicator& communicator) {
        DeviceModel model(gpus, every_kind(), communicator.rank(), communicator.size());
        const auto loaded = checkpoint::load_latest(model.state, scratch.path(), communicator);
        findings.add(!loaded ? "nothing loaded" : model.difference(5, writers));
      });
      CHECK(findings.take() == std::vector<std::string>{});
    }
  }
}

TEST_CASE("a checkpoint holds the train thread for little more than the pinned copies take") {
  if (!have_gpus(1, "the stall of a checkpoint")) return;
  auto& gpus = device::runtime();
  constexpr std::size_t tensor_bytes = std::size_t{256} << 20;
  constexpr std::size_t tensors = 4;
  std::vector<Memory> memory;
  State state;
  for (std::size_t i = 0; i < tensors; ++i) {
    memory.push_back(gpus.allocate(0, tensor_bytes));
    state.tensor("w" + std::to_string(i),
                 TensorView{memory.back().get(), DType::f32, {static_cast<std::int64_t>(tensor_bytes / 4)}, Device::cuda});
  }
  const double rate = pinned_rate(gpus, memory.front().get(), tensor_bytes);
  Scratch scratch;
  std::vector<double> stalls;
  run_ranks(1, [&](Communicator& communicator) {
    auto save = options_for(scratch.path(), 0);
    save.saver.writer.staging_bytes = std::uint64_t{2} << 30;
    save.saver.retention = checkpoint::Retention{1, "", true};
    checkpoint::Saver saver(save.saver, communicator);
    saver.prepare(state);
    saver.drain();
    for (save.meta.number = 0; save.meta.number < 4; ++save.meta.number) {
      const auto start = std::chrono::steady_clock::now();
      saver.start(state, {save.meta, {}});
      stalls.push_back(seconds_since(start));
      if (!saver.finish().value().committed) throw Error("not committed");
    }
  });
  std::sort(stalls.begin(), stalls.end());
  const double copies = static_cast<double>(tensor_bytes * tensors) / rate;
  figure("device to pinned host memory", rate / 1e9, "GB/s");
  figure("stall of a checkpoint of 1 GiB", stalls[stalls.size() / 2] * 1e3, "ms");
  figure("stall over the time of the pinned copies (<= 1.3)", stalls[stalls.size() / 2] / copies, "");
  CHECK(stalls[stalls.size() / 2] / copies <= 1.3);
}
