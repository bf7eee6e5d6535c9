// Batches of a run's dataset, which are read into pinned memory, on their way to a GPU.
#include "gpu/gpu_test.hpp"
#include "support/batches_on_gpu.hpp"

using namespace trainrt;
using namespace trainrt::test;

TEST_CASE("batches of a dataset are copied to the GPU from the memory they were read into, while the host goes on") {
  if (!have_gpus(1, "batches in pinned memory")) return;
  constexpr double batch_bytes = 20 * 524288 * 4.0;
  const auto run = [](const std::vector<int>& taken, const char* threads) {
    return copied_batches(taken, {{"data.train.features", "524288"}, {"data.train.threads", threads}});
  };
  const auto on_cpu = run({}, "0");
  CHECK(on_cpu.hashes.size() == 5);
  for (const auto* threads : {"0", "2"}) {
    INFO(threads << " threads");
    const auto on_gpu = run({0}, threads);
    CHECK(on_gpu.hashes == on_cpu.hashes);
    CHECK(on_gpu.arrived);
    CHECK(on_gpu.enqueue_s < on_gpu.copy_s / 4);
    figure(fmt::format("batch of 40 MiB to the device, {} threads", threads), batch_bytes / on_gpu.copy_s / 1e9, "GB/s");
  }
}
