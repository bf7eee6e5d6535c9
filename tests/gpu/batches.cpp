// Tests copies of batches to a GPU. A run reads the batches of its dataset into pinned memory.
#include "gpu/gpu_test.hpp"
#include "support/cpp/batches_on_gpu.hpp"

using namespace trainrt;
using namespace trainrt::test;

TEST_CASE("batches of a dataset are copied from pinned memory to the GPU while the host continues") {
  if (!have_gpus(1, "batches in pinned memory")) return;
  const auto batch_bytes = sized(20 * 524288 * 4);
  const auto features = std::to_string(batch_bytes / 20 / 4);
  const auto run = [&](const std::vector<int>& taken, const char* threads) {
    return copied_batches(taken, {{"data.train.features", features.c_str()}, {"data.train.threads", threads}});
  };
  const auto on_cpu = run({}, "0");
  CHECK(on_cpu.hashes.size() == 5);
  for (const auto* threads : {"0", "2"}) {
    INFO(threads << " threads");
    const auto on_gpu = run({0}, threads);
    CHECK(on_gpu.hashes == on_cpu.hashes);
    CHECK(on_gpu.arrived);
    if (!gpus_are_fake()) CHECK(on_gpu.enqueue_s < on_gpu.copy_s / 4);
    figure(fmt::format("batch of {} KiB to the device, {} threads", batch_bytes >> 10, threads),
           static_cast<double>(batch_bytes) / on_gpu.copy_s / 1e9, "GB/s");
  }
}
