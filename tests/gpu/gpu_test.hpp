#pragma once
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "device/runtime.hpp"

namespace trainrt::test {

/// False, and says so, if there are fewer GPUs.
inline bool have_gpus(int wanted, const std::string& what) {
  const int count = device::runtime().count();
  if (count >= wanted) return true;
  fmt::print("skipped: {}: {}\n", what,
             count == 0 ? "no GPU (" + device::runtime().why_none() + ")" : fmt::format("{} of {} GPUs", count, wanted));
  return false;
}

/// A line of the table.
inline void figure(const std::string& name, double value, const std::string& unit) {
  fmt::print("figure {:<56} {:>10.3f} {}\n", name, value, unit);
}

}  // namespace trainrt::test
