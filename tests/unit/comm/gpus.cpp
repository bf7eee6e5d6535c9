// Tests of collectives on GPUs, with fake GPUs and a fake NCCL. The ranks are threads of this process.
#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "comm/comm_error.hpp"
#include "comm/gpu_backend.hpp"
#include "comm/gpus.hpp"
#include "core/output/log.hpp"
#include "support/cpp/device_contract.hpp"
#include "support/cpp/fake_gpus.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

comm::CommOptions asking_for(std::string backend, std::string gpus_per_worker = "auto", double timeout_seconds = 20) {
  comm::CommOptions options;
  options.backend = std::move(backend);
  options.gpus_per_worker = std::move(gpus_per_worker);
  options.timeout_seconds = timeout_seconds;
  return options;
}

using RankMain = std::function<void(Communicator&, const World&)>;
void on_gpus(int size, const comm::CommOptions& options, const RankMain& rank_main,
             const std::string& library = FAKE_NCCL) {
  log::set_quiet(true);
  test::run_launched(
      size,
      [&](launch::Launch& launch) {
        auto communicator = comm::open_communicator(launch, {});
        comm::put_on_gpus(communicator, launch.world(), options, library);
        rank_main(*communicator, launch.world());
        communicator->barrier();
      },
      options.timeout_seconds);
}

std::string findings_of(int size, const comm::CommOptions& options, test::Sums sums, std::string_view name,
                        const std::string& library = FAKE_NCCL) {
  std::mutex mutex;
  std::string all;
  on_gpus(
      size, options,
      [&](Communicator& communicator, const World& world) {
        auto found = communicator.name() == name ? "" : "the backend is " + std::string(communicator.name()) + "; ";
        found += test::DeviceContract(communicator, device::runtime(), world.gpus.front(), sums).findings();
        const std::lock_guard lock(mutex);
        all += found;
      },
      library);
  return all;
}

}  // namespace

TEST_CASE("NCCL keeps the contract of a communicator on GPU memory") {
  test::FakeGpus gpus(4, std::chrono::microseconds(20));
  const device::ReplacedRuntime replaced(gpus);
  for (const int size : {2, 3, 4}) {
    CAPTURE(size);
    CHECK(findings_of(size, asking_for("auto", "1"), test::Sums::near, "nccl") == "");
  }
  CHECK(findings_of(1, asking_for("nccl"), test::Sums::near, "nccl") == "");
}

TEST_CASE("every available GPU backend keeps the contract if it is requested by name") {
  test::FakeGpus gpus(3, std::chrono::microseconds(20));
  const device::ReplacedRuntime replaced(gpus);
  for (const auto* backend : comm::gpu_backend_table()) {
    CAPTURE(backend->name);
    const auto host_name = backend->through_host ? "thread" : backend->name;
    try {
      CHECK(findings_of(3, asking_for(std::string(backend->name), "1"), test::Sums::near, host_name) == "");
    } catch (const comm::BackendRefused& error) {
      CHECK_THAT(error.what(), Contains("cannot be used: "));  // the library of the backend does not exist
    }
  }
}

TEST_CASE("deterministic sums by NCCL have the same bits as on the CPU") {
  test::FakeGpus gpus(5, std::chrono::microseconds(20));
  const device::ReplacedRuntime replaced(gpus);
  auto options = asking_for("nccl", "1");
  CHECK(findings_of(5, options, test::Sums::exact, "nccl") != "");  // the fake NCCL sums in another order
  options.deterministic = true;
  for (const int size : {1, 2, 3, 5}) {
    CAPTURE(size);
    CHECK(findings_of(size, options, test::Sums::exact, "nccl") == "");
  }
}

TEST_CASE("without NCCL or with a shared GPU, GPU memory is reduced on the host with the host's bits") {
  test::FakeGpus one(1, std::chrono::microseconds(20));
  {
    const device::ReplacedRuntime replaced(one);
    CHECK(findings_of(3, asking_for("auto"), test::Sums::exact, "thread") == "");
    CHECK(findings_of(2, asking_for("auto", "0.5"), test::Sums::exact, "thread") == "");
    CHECK(findings_of(1, asking_for("auto"), test::Sums::exact, "thread") == "");
  }
  test::FakeGpus two(2, std::chrono::microseconds(20));
  const device::ReplacedRuntime replaced(two);
  CHECK(findings_of(2, asking_for("auto"), test::Sums::exact, "thread", "/no/such/libnccl.so.2") == "");
  CHECK(findings_of(2, asking_for("thread"), test::Sums::exact, "thread") == "");
}

TEST_CASE("the GPUs of each worker are stored in its world") {
  test::FakeGpus gpus(4);
  const device::ReplacedRuntime replaced(gpus);
  std::mutex mutex;
  std::vector<std::vector<int>> taken(2);
  on_gpus(2, asking_for("auto"), [&](Communicator& communicator, const World& world) {
    const std::lock_guard lock(mutex);
    taken[static_cast<std::size_t>(communicator.rank())] = world.gpus;
  });
  CHECK(taken == std::vector<std::vector<int>>{{0, 1}, {2, 3}});
}

TEST_CASE("NCCL requested by name is refused with the reason if it cannot be used") {
  const auto nothing = [](Communicator&, const World&) {};
  {
    test::FakeGpus none(0);
    const device::ReplacedRuntime replaced(none);
    CHECK_THROWS_WITH(on_gpus(2, asking_for("nccl"), nothing),
                      Contains("the backend 'nccl' cannot be used: no GPU can be used: the test has no GPUs"));
    CHECK_THROWS_AS(on_gpus(2, asking_for("nccl"), nothing), UsageError);
  }
  {
    test::FakeGpus one(1);
    const device::ReplacedRuntime replaced(one);
    CHECK_THROWS_WITH(on_gpus(2, asking_for("nccl"), nothing),
                      Contains("ranks 0 and 1 share a GPU, which NCCL does not support"));
    CHECK_THROWS_WITH(on_gpus(2, asking_for("auto", "1"), nothing), Contains("2 workers of a node need 2 GPUs"));
  }
  test::FakeGpus two(2);
  const device::ReplacedRuntime replaced(two);
  CHECK_THROWS_WITH(
      on_gpus(2, asking_for("nccl"), nothing, "/no/such/libnccl.so.2"),
      Contains("rank 0 on ") && Contains("NCCL cannot be loaded: /no/such/libnccl.so.2") && Contains("LD_LIBRARY_PATH"));
  CHECK_THROWS_WITH(on_gpus(2, asking_for("nccl"), nothing, OLD_FAKE_NCCL),
                    Contains("is NCCL 2.12.7; 2.18 or newer is required"));
  CHECK_THROWS_WITH(on_gpus(2, asking_for("nccl", "0"), nothing), Contains("no GPUs were requested for the workers"));
}

TEST_CASE("a run without GPU memory creates no stream on a GPU") {
  test::FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  on_gpus(2, asking_for("auto", "0"), [](Communicator& communicator, const World& world) {
    if (!world.gpus.empty() || communicator.name() != "thread") throw Error("a GPU was taken");
  });
  on_gpus(2, asking_for("auto", "1"), [](Communicator& communicator, const World&) {
    communicator.all_reduced(1.0, Op::sum);  // host memory, which needs no NCCL communicator
  });
  CHECK(gpus.streams == 0);
}

TEST_CASE("a rank that does not join a collective on the GPU ends the others' wait at the timeout and frees their GPUs") {
  test::FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  std::string error;
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS(on_gpus(2, asking_for("nccl", "1", 1.0), [&](Communicator& communicator, const World& world) {
    const test::OnGpu memory(gpus, world.gpus.front(), std::string(4, '\0'));
    const Buffer buffer{memory.data(), 1, DType::f32, Device::cuda};
    communicator.all_reduce(buffer, Op::sum);
    communicator.at_step(17);
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      throw Error("late");
    }
    communicator.all_reduce(buffer, Op::sum, "bucket 2");
    memory.bytes();  // returns because the collective that rank 1 does not join is aborted
    try {
      communicator.all_reduce(buffer, Op::sum);
    } catch (const comm::CollectiveTimeout& e) {
      error = e.what();
      throw;
    }
  }));
  CHECK_THAT(error, Contains("all_reduce of 'bucket 2' at step 17 on rank 0") && Contains("NCCL does not report which"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}

TEST_CASE("an error that NCCL reports during a collective aborts it and is part of the message") {
  test::FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  auto* const library = dlopen(FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
  const auto break_nccl = reinterpret_cast<void (*)(int)>(dlsym(library, "fakeNcclBreak"));
  REQUIRE(break_nccl != nullptr);
  std::string error;
  CHECK_THROWS(on_gpus(2, asking_for("nccl", "1"), [&](Communicator& communicator, const World& world) {
    const test::OnGpu memory(gpus, world.gpus.front(), std::string(4, '\0'));
    const Buffer buffer{memory.data(), 1, DType::f32, Device::cuda};
    communicator.all_reduce(buffer, Op::sum);
    memory.bytes();
    communicator.barrier();
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      throw Error("this rank is gone");
    }
    communicator.all_reduce(buffer, Op::sum, "bucket 5");
    break_nccl(6);
    memory.bytes();
    try {
      communicator.all_reduce(buffer, Op::sum);
    } catch (const Error& e) {
      error = e.what();
      throw;
    }
  }));
  break_nccl(0);
  CHECK_THAT(error, Contains("bucket 5") && Contains("remote process exited") && Contains("NCCL 2.28.9"));
}

TEST_CASE("memory on another GPU than the rank's is an error that names both GPUs") {
  test::FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  CHECK_THROWS_WITH(on_gpus(1, asking_for("nccl"),
                            [&](Communicator& communicator, const World&) {
                              const auto other = gpus.allocate(1, 64);
                              communicator.all_reduce(Buffer{other.get(), 4, DType::f32, Device::cuda}, Op::sum, "w");
                            }),
                    Contains("all_reduce of 'w': its memory is on GPU 1, but rank 0 communicates on GPU 0"));
}
