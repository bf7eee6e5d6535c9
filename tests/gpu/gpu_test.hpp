#pragma once
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "device/runtime.hpp"

namespace trainrt::test {

/// Returns whether there are `wanted` GPUs; prints that `what` is skipped if there are fewer.
inline bool have_gpus(int wanted, const std::string& what) {
  const int count = device::runtime().count();
  if (count >= wanted) return true;
  fmt::print("skipped: {}: {}\n", what,
             count == 0 ? "no GPU (" + device::runtime().why_none() + ")" : fmt::format("{} of {} GPUs", count, wanted));
  return false;
}

/// Prints a row of the table.
inline void figure(const std::string& name, double value, const std::string& unit) {
  fmt::print("figure {:<56} {:>10.3f} {}\n", name, value, unit);
  std::fflush(stdout);
}

/// Prints a row that is compared with a target. A missed target fails no test: tables show it as short.
inline void claim(const std::string& name, double value, const std::string& relation, double target) {
  fmt::print("claim {:<56} {:>10.3f} {} {}\n", name, value, relation, target);
  std::fflush(stdout);
}

}  // namespace trainrt::test
