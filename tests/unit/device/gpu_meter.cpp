// Tests of measuring GPUs by NVML, with a fake library.
#include "device/gpu_meter.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("nvml_meter() returns nullptr without NVIDIA's library") {
  CHECK(device::nvml_meter("libno-such-library.so.1") == nullptr);
  CHECK(device::nvml_meter("libm.so.6") == nullptr);  // a library without the functions of NVML
}

TEST_CASE("the meter reads utilization, energy and processes of each GPU, and leaves unknown values empty") {
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
