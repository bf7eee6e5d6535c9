// Measures the kernel that adds arrays of several ranks in GPU memory, along a fixed tree over the ranks. test_gpu runs
// this hidden case only if its tag is given, as the part `reduce` of run_parts.py does.
#include <algorithm>
#include <chrono>
#include <vector>

#include "gpu/gpu_test.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

int rounds() { return gpus_are_fake() ? 1 : 5; }
int launches() { return gpus_are_fake() ? 1 : 10; }

/// Returns the best seconds per call of several rounds. Each round enqueues launches() calls and waits for all of them.
template <class Work>
double seconds_per_call(device::Stream& stream, const Work& work) {
  double best = 1e9;
  for (int round = 0; round < rounds(); ++round) {
    device::wait_within(*stream.record(), 60);
    const auto start = std::chrono::steady_clock::now();
    for (int launch = 0; launch < launches(); ++launch) work();
    device::wait_within(*stream.record(), 60);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / launches());
  }
  return best;
}

}  // namespace

TEST_CASE("the tree kernel reaches 0.85 of the speed of a copy inside the GPU", "[.reduce]") {
  if (!have_gpus(1, "speed of the tree kernel")) return;
  const auto part_bytes = sized(std::size_t{256} << 20);
  auto& gpus = device::runtime();
  const auto stream = gpus.default_stream(0);
  const auto memory = gpus.allocate(0, part_bytes * 9);  // the parts, then the result
  auto* const out = memory.get() + part_bytes * 8;
  const double copy_s = seconds_per_call(*stream, [&] { stream->within_device(out, memory.get(), part_bytes); });
  const double copy_rate = 2 * static_cast<double>(part_bytes) / copy_s;  // a copy reads and writes each byte
  figure("copy inside the GPU", copy_rate / 1e9, "GB/s");
  for (const auto dtype : {DType::f32, DType::bf16, DType::f16})
    for (int ranks = 2; ranks <= 8; ++ranks) {
      CAPTURE(name_of(dtype), ranks);
      const auto count = part_bytes / size_of(dtype);
      const double seconds = seconds_per_call(*stream, [&] {
        stream->reduce({memory.get(), count, ranks, out, count, dtype, Op::sum, 1});
      });
      const double rate = static_cast<double>(part_bytes) * (ranks + 1) / seconds;
      figure(fmt::format("tree sum of {} parts, {}", ranks, name_of(dtype)), rate / 1e9, "GB/s");
      claim(fmt::format("tree sum of {} parts, {}, over the copy", ranks, name_of(dtype)), rate / copy_rate, ">=", 0.85);
    }
}
