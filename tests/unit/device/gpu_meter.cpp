// What NVML tells of GPUs, of a library that takes its place.
#include "device/gpu_meter.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("without NVIDIA's library there is no meter") {
  CHECK(device::nvml_meter("libno-such-library.so.1") == nullptr);
  CHECK(device::nvml_meter("libm.so.6") == nullptr);  // a library, but not that one
}

TEST_CASE("the meter tells what each GPU does and who computes on it, and leaves out what is not known") {
  const auto meter = device::nvml_meter(FAKE_NVML);
  REQUIRE(meter);
  const auto gpus = meter->read();
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].uuid == "GPU-0");
  CHECK(gpus[0].busy == 0.8);
  REQUIRE(gpus[0].processes.contains(getpid()));
  CHECK(gpus[0].processes.at(getpid()) == 4096);
  CHECK(gpus[1].processes.at(1) == -1);
  CHECK_FALSE(gpus[1].energy_j);
  CHECK(meter->read()[0].energy_j.value() - gpus[0].energy_j.value() == 250);  // joules, not mJ
}
