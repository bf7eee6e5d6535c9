// Tests copies from pinned host memory to the GPU, which run while the host continues, and allocations that are too large.
#include <chrono>
#include <vector>

#include <trainrt/error.hpp>

#include "gpu/gpu_test.hpp"
#include "support/cpp/on_gpu.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct CopyTimes {
  double enqueued_s = 0;  ///< until the call returned
  double done_s = 0;      ///< until the bytes had arrived
};

CopyTimes copy_to(device::Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto start = Clock::now();
  stream.to_device(to, from, bytes);
  CopyTimes times{.enqueued_s = seconds_since(start)};
  device::wait_within(*stream.record(), 60);
  times.done_s = seconds_since(start);
  return times;
}

}  // namespace

TEST_CASE("host memory that is pinned after its allocation is copied while the host continues") {
  if (!have_gpus(1, "memory pinned in place")) return;
  auto& gpus = device::runtime();
  const auto bytes = sized(std::size_t{256} << 20);
  std::vector<std::byte> values(bytes, std::byte{7});
  const auto memory = gpus.allocate(0, bytes);
  const auto stream = gpus.make_stream(0);
  stream->wait_for(*gpus.default_stream(0)->record());  // allocate() writes zeros there
  const auto pageable = copy_to(*stream, memory.get(), values.data(), bytes);
  REQUIRE(gpus.pin(values));
  const auto warm = copy_to(*stream, memory.get(), values.data(), bytes);
  const auto pinned = copy_to(*stream, memory.get(), values.data(), bytes);
  gpus.unpin(values);
  figure("host to device, pageable memory", static_cast<double>(bytes) / pageable.done_s / 1e9, "GB/s");
  figure("host to device, memory pinned in place", static_cast<double>(bytes) / std::min(warm.done_s, pinned.done_s) / 1e9,
         "GB/s");
  if (!gpus_are_fake()) CHECK(pinned.enqueued_s < pinned.done_s / 4);
  std::vector<std::byte> back(bytes);
  get(gpus, 0, back.data(), memory.get(), bytes);
  CHECK(back == values);
}

TEST_CASE(
    "an allocation that is too large for the GPU is an error with the number of bytes, and smaller ones still succeed") {
  if (!have_real_gpus(1, "an allocation that is too large")) return;
  auto& gpus = device::runtime();
  const auto bytes = gpus.describe(0).memory_bytes * 2;
  CHECK_THROWS_WITH(gpus.allocate(0, bytes), Catch::Contains("cannot allocate") && Catch::Contains(std::to_string(bytes)));
  const OnGpu memory(gpus, 0, std::string(1 << 20, 'x'));
  CHECK(memory.bytes() == std::string(1 << 20, 'x'));
}
