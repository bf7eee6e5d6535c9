#include "device/runtime.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "device/cuda_runtime.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::device;
using Catch::Matchers::Contains;

TEST_CASE("a machine without GPUs is valid and gives the reason") {
  auto& cuda = cuda_runtime();
  if (cuda.count() > 0) {
    CHECK(cuda.no_gpu_reason().empty());
    return;
  }
  CHECK_FALSE(cuda.no_gpu_reason().empty());
  int on_the_stack = 0;
  CHECK_FALSE(cuda.owner_of(&on_the_stack));
  const bool has_runtime = cuda.no_gpu_reason().find("built without the CUDA toolkit") == std::string::npos;
  CHECK(cuda.versions().empty() != has_runtime);
}

TEST_CASE("using a GPU on a machine without GPUs is an error with the reason") {
  NoGpus none("the node has no GPUs");
  CHECK_THROWS_WITH(none.allocate(0, 8), Contains("no GPU can be used: the node has no GPUs"));
  CHECK_THROWS_AS(none.make_stream(0), UsageError);
}

TEST_CASE("a stream performs its work in order and asynchronously, and an event reports its completion") {
  test::FakeGpus gpus(1, std::chrono::milliseconds(5));
  const auto memory = gpus.allocate(0, 64);
  const auto stream = gpus.make_stream(0);
  stream->wait_for(*gpus.default_stream(0)->record());  // allocate() writes zeros there
  const std::vector<std::uint8_t> sent(64, 7);
  std::vector<std::uint8_t> back(64, 0);
  stream->to_device(memory.get(), sent.data(), sent.size());
  stream->to_host(back.data(), memory.get(), back.size());
  const auto event = stream->record();
  CHECK_FALSE(event->test());
  CHECK(wait_within(*event, 10));
  CHECK(back == sent);
}

TEST_CASE("a stream waits for the event of another stream") {
  test::FakeGpus gpus(1, std::chrono::milliseconds(3));
  const auto memory = gpus.allocate(0, 1000);
  const auto first = gpus.make_stream(0);
  const auto second = gpus.make_stream(0);
  first->wait_for(*gpus.default_stream(0)->record());  // allocate() writes zeros there
  const std::vector<std::uint8_t> sent(1000, 9);
  std::vector<std::uint8_t> back(1000, 0);
  for (int i = 0; i < 5; ++i) first->to_device(memory.get(), sent.data(), sent.size());
  second->wait_for(*first->record());
  second->to_host(back.data(), memory.get(), back.size());
  CHECK(wait_within(*second->record(), 10));
  CHECK(back == sent);
}

TEST_CASE("wait_within() returns false after its limit") {
  test::FakeGpus gpus;
  gpus.stalled = true;
  const auto stream = gpus.make_stream(0);
  CHECK_FALSE(wait_within(*stream->record(), 0.05));
}

TEST_CASE("owner_of() returns the GPU of device memory and nothing for host memory") {
  test::FakeGpus gpus(2);
  const auto memory = gpus.allocate(1, 100);
  CHECK(gpus.owner_of(memory.get() + 99) == 1);
  CHECK_FALSE(gpus.owner_of(&gpus));
}
