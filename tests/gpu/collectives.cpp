// Tests collectives by NCCL and through the host. The ranks are threads of this process, so several processes or nodes are
// not tested here.
#include <mutex>

#include "comm/gpus.hpp"
#include "comm/nccl/api.hpp"
#include "gpu/gpu_test.hpp"
#include "support/cpp/device_contract.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

std::string nccl_missing() {
  try {
    comm::nccl::load();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool have_nccl(int gpus, const std::string& what) {
  if (!have_real_gpus(gpus, what)) return false;
  const auto why = nccl_missing();
  if (!why.empty()) fmt::print("skipped: {}: {}\n", what, why);
  return why.empty();
}

comm::CommOptions options_of(std::string backend, bool deterministic) {
  comm::CommOptions options;
  options.backend = std::move(backend);
  options.gpus_per_worker = "auto";
  options.deterministic = deterministic;
  options.timeout_seconds = 60;
  return options;
}

using RankMain = std::function<void(Communicator&, int gpu)>;
void on_ranks(int size, const comm::CommOptions& options, const RankMain& rank_main) {
  run_launched(
      size,
      [&](launch::Launch& launch) {
        auto communicator = comm::open_communicator(launch, {});
        comm::put_on_gpus(communicator, launch.world(), options);
        device::runtime().use(launch.world().gpus.front());
        rank_main(*communicator, launch.world().gpus.front());
        communicator->barrier();
      },
      options.timeout_seconds);
}

std::string findings_of(int size, const comm::CommOptions& options, Sums sums) {
  std::mutex mutex;
  std::string all;
  on_ranks(size, options, [&](Communicator& communicator, int gpu) {
    const auto found = DeviceContract(communicator, device::runtime(), gpu, sums).findings();
    const std::lock_guard lock(mutex);
    all += found;
  });
  return all;
}

/// Prints the speed of an all-reduce: the bytes of the buffer divided by the shortest time.
void measure(int size, bool deterministic) {
  constexpr std::size_t count = std::size_t{32} << 20;  // 128 MiB
  on_ranks(size, options_of("nccl", deterministic), [&](Communicator& communicator, int gpu) {
    const auto memory = communicator.allocate(count * 4, Device::cuda);
    const Buffer buffer{memory.get(), count, DType::f32, Device::cuda};
    constexpr int rounds = 10;
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
      communicator.barrier();
      const auto start = std::chrono::steady_clock::now();
      communicator.all_reduce(buffer, Op::sum);
      device::wait_within(*device::runtime().default_stream(gpu)->record(), 60);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (communicator.rank() == 0)
      figure(fmt::format("all_reduce of 128 MiB by NCCL, {} rank{}{}", size, size == 1 ? "" : "s",
                         deterministic ? ", deterministic" : ""),
             static_cast<double>(count) * 4 / best / 1e9, "GB/s");
  });
}

}  // namespace

TEST_CASE("NCCL fulfils the contract with one rank") {
  if (!have_nccl(1, "NCCL with one rank")) return;
  CHECK(findings_of(1, options_of("nccl", false), Sums::exact) == "");
  CHECK(findings_of(1, options_of("nccl", true), Sums::exact) == "");
  measure(1, false);
}

TEST_CASE("NCCL fulfils the contract with one rank on each GPU") {
  if (!have_nccl(2, "NCCL with several ranks")) return;
  CHECK(findings_of(device::runtime().count(), options_of("nccl", false), Sums::near) == "");
  measure(device::runtime().count(), false);
}

TEST_CASE("deterministic sums by NCCL have the same bits as sums on the CPU") {
  if (!have_nccl(2, "deterministic sums by NCCL")) return;
  for (int size = 2; size <= device::runtime().count(); ++size)
    CHECK(findings_of(size, options_of("nccl", true), Sums::exact) == "");
  measure(device::runtime().count(), true);
}

TEST_CASE("ranks that share a GPU reduce through the host with the same bits as the CPU") {
  if (!have_gpus(1, "ranks that share a GPU")) return;
  CHECK(findings_of(device::runtime().count() + 2, options_of("auto", false), Sums::exact) == "");
}

TEST_CASE("the error for two ranks on one GPU with NCCL names the ranks") {
  if (!have_gpus(1, "two ranks on one GPU")) return;
  if (device::runtime().count() > 1) return;
  CHECK_THROWS_WITH(on_ranks(2, options_of("nccl", false), [](Communicator&, int) {}),
                    Catch::Contains("ranks 0 and 1 share a GPU"));
}
