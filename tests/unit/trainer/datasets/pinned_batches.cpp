#include <catch2/catch.hpp>

#include "support/cpp/batches_on_gpu.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::test;

TEST_CASE("batches are copied from pinned memory to the GPU, with the same bits as on the CPU") {
  FakeGpus gpus(1);
  const device::ReplacedRuntime replaced(gpus);
  std::size_t max_pinned = 0;
  const auto run = [&](const std::vector<int>& taken, const char* threads) {  // batches of 20 KiB
    max_pinned = 0;
    return copied_batches(taken, {{"data.train.features", "256"}, {"data.train.threads", threads}},
                          [&] { max_pinned = std::max(max_pinned, gpus.pinned()); });
  };
  const auto on_cpu = run({}, "0");
  CHECK(on_cpu.hashes.size() == 5);
  CHECK(max_pinned == 0);
  for (const auto* threads : {"0", "2"}) {
    INFO(threads << " threads");
    const auto on_gpu = run({0}, threads);
    CHECK(max_pinned >= 1);
    CHECK(gpus.pinned() == 0);
    CHECK(on_gpu.hashes == on_cpu.hashes);
    CHECK(on_gpu.arrived);
  }
}
