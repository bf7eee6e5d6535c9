#pragma once
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "device/runtime.hpp"

namespace trainrt::test {

/// Returns whether the GPUs are fake. TRAINRT_TEST_FAKE_GPUS=NUMBER sets their number, to try the cases on a machine
/// without a GPU. The first call replaces device::runtime() for the rest of the process.
bool gpus_are_fake();

/// Returns `bytes`, or 1/512 of it if the GPUs are fake.
inline std::size_t sized(std::size_t bytes) { return gpus_are_fake() ? bytes / 512 : bytes; }

/// Returns whether the machine has `wanted` GPUs. If it has fewer, prints that `what` is skipped.
inline bool have_gpus(int wanted, const std::string& what) {
  gpus_are_fake();
  const int count = device::runtime().count();
  if (count >= wanted) return true;
  fmt::print(
      "skipped: {}: {}\n", what,
      count == 0 ? "no GPU (" + device::runtime().no_gpu_reason() + ")" : fmt::format("{} of {} GPUs", count, wanted));
  return false;
}

/// Returns whether the machine has `wanted` real GPUs, for tests that need more than a fake GPU can do.
inline bool have_real_gpus(int wanted, const std::string& what) {
  if (!have_gpus(wanted, what)) return false;
  if (gpus_are_fake()) fmt::print("skipped: {}: the GPUs are fake\n", what);
  return !gpus_are_fake();
}

/// Prints a row of the table. Its name shows whether the GPU is fake.
inline void figure(const std::string& name, double value, const std::string& unit) {
  fmt::print("figure {:<56} {:>10.3f} {}\n", (gpus_are_fake() ? "fake GPU: " : "") + name, value, unit);
  std::fflush(stdout);
}

/// Prints a row that is compared with a target. A missed target does not fail the test; the tables mark the row as
/// short. For a fake GPU, the row is a figure without a target.
inline void claim(const std::string& name, double value, const std::string& relation, double target) {
  if (gpus_are_fake()) return figure(name, value, "-");
  fmt::print("claim {:<56} {:>10.3f} {} {}\n", name, value, relation, target);
  std::fflush(stdout);
}

}  // namespace trainrt::test
