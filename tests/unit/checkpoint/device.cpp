// Tests of tensors on fake GPUs. The host cannot access their memory, and copies are asynchronous.
#include <catch2/catch.hpp>

#include "checkpoint/load/load.hpp"
#include "checkpoint/save/results.hpp"
#include "device_model.hpp"
#include "runs.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

checkpoint::SaveResult save_device(FakeGpus& gpus, int ranks, const std::string& run_dir, std::uint64_t seed,
                                   const std::vector<Spec>& specs = every_kind()) {
  checkpoint::SaveResult first;
  run_ranks(ranks, [&](Communicator& communicator) {
    DeviceModel model(gpus, specs, communicator.rank(), communicator.size());
    model.fill(seed);
    auto save = options_for(run_dir, 0);
    checkpoint::Saver saver(save.saver, communicator);
    auto failed = saver.start(model.state, {save.meta, {}});
    model.fill(seed + 1);  // the next training step
    const auto result = failed ? *failed : saver.finish().value();
    communicator.barrier();
    if (communicator.rank() == 0) first = result;
  });
  return first;
}

std::vector<std::string> load_device(FakeGpus& gpus, int ranks, const std::string& run_dir, std::uint64_t seed,
                                     int writers) {
  Findings findings;
  run_ranks(ranks, [&](Communicator& communicator) {
    DeviceModel model(gpus, every_kind(), communicator.rank(), communicator.size());
    const auto loaded = checkpoint::load_latest(model.state, run_dir, communicator);
    findings.add(!loaded ? "nothing loaded" : model.difference(seed, writers));
  });
  return findings.take();
}

}  // namespace

TEST_CASE("tensors on GPUs are saved as they were at the step and load bit for bit on any number of ranks") {
  FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  for (const int writers : {1, 2, 3}) {
    Scratch scratch;
    const auto saved = save_device(gpus, writers, scratch.path(), 5);
    CHECK(saved.error == "");
    REQUIRE(saved.committed);
    for (const int readers : {1, 2, 3}) {
      CAPTURE(writers, readers);
      CHECK(load_device(gpus, readers, scratch.path(), 5, writers) == std::vector<std::string>{});
    }
  }
}

TEST_CASE("saves from GPU memory and from host memory write the same files") {
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  Scratch from_gpus;
  REQUIRE(save_device(gpus, 2, from_gpus.path(), 9).committed);
  CHECK(load_on(2, every_kind(), from_gpus.path(), 9, 2).differences == std::vector<std::string>{});
  Scratch from_host;
  REQUIRE(save_on(2, every_kind(), from_host.path(), 0, 9).committed);
  CHECK(load_device(gpus, 2, from_host.path(), 9, 2) == std::vector<std::string>{});
}

TEST_CASE("a save copies each byte on a GPU once, into memory that is pinned until the saver is destroyed") {
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  const std::vector<Spec> specs = {{"a", DType::f32, {5'000'000}},
                                   {"b", DType::u8, {77}}};  // more than two blocks of 4 MiB
  Scratch scratch;
  bool pinned = false;
  gpus.bytes_to_host = 0;
  run_ranks(1, [&](Communicator& communicator) {
    DeviceModel model(gpus, specs, 0, 1);
    model.fill(1);
    auto save = options_for(scratch.path(), 0);
    checkpoint::Saver saver(save.saver, communicator);
    saver.start(model.state, {save.meta, {}});
    pinned = gpus.pinned() > 0;
    saver.finish();
  });
  CHECK(pinned);
  CHECK(gpus.pinned() == 0);
  CHECK(gpus.bytes_to_host == 20'000'077);
}

TEST_CASE("tensors on GPUs are saved even if memory cannot be pinned") {
  FakeGpus gpus;
  gpus.can_pin = false;
  const device::ReplacedRuntime replaced(gpus);
  Scratch scratch;
  REQUIRE(save_device(gpus, 1, scratch.path(), 3).committed);
  CHECK(load_device(gpus, 1, scratch.path(), 3, 1) == std::vector<std::string>{});
}

TEST_CASE("a tensor that is declared as GPU memory but is not is named by save and restore") {
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  Scratch scratch;
  std::vector<float> memory(8);
  State state;
  state.tensor("lost", TensorView{memory.data(), DType::f32, {8}, Device::cuda});
  run_ranks(1, [&](Communicator& communicator) {
    const auto result = save_now(state, options_for(scratch.path(), 0), communicator);
    if (result.committed || result.error.find("'lost'") == std::string::npos) throw Error("not named: " + result.error);
  });
  State on_host;
  on_host.tensor("lost", memory);
  run_ranks(1, [&](Communicator& communicator) { save_now(on_host, options_for(scratch.path(), 1), communicator); });
  CHECK_THROWS_WITH(
      run_ranks(1, [&](Communicator& communicator) { checkpoint::load_latest(state, scratch.path(), communicator); }),
      Contains("'lost'") && Contains("is not on a GPU"));
}

TEST_CASE("a state without tensors on GPUs uses no GPU") {
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  Scratch scratch;
  REQUIRE(save_on(2, every_kind(), scratch.path(), 0, 4).committed);
  CHECK(load_on(2, every_kind(), scratch.path(), 4, 2).differences == std::vector<std::string>{});
  CHECK(gpus.streams == 0);
  CHECK(gpus.pinned() == 0);
}

TEST_CASE("a GPU that does not respond fails the save within the limit") {
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  Scratch scratch;
  checkpoint::SaveResult result;
  const auto start = std::chrono::steady_clock::now();
  run_ranks(1, [&](Communicator& communicator) {
    DeviceModel model(gpus, every_kind(), 0, 1);
    model.fill(1);
    gpus.stalled = true;
    auto options = options_for(scratch.path(), 0);
    options.saver.writer.stuck_s = 0.2;
    checkpoint::Saver saver(options.saver, communicator);
    saver.start(model.state, {options.meta, {}});
    result = saver.finish().value();
    gpus.stalled = false;
  });
  CHECK_FALSE(result.committed);
  CHECK_THAT(result.error, Contains("from a GPU: the GPU did not finish"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}
