#pragma once
#include <iostream>
#include <string>

#include <catch2/catch.hpp>

namespace trainrt::test {

/// Says that a test case, or what is left of it, cannot run here. tests/run.sh counts such lines, and fails test cases that
/// assert nothing: these are not meant.
inline void skip(const std::string& reason) {
  std::cout << "skipped: " << reason << std::endl;
  SUCCEED("skipped");
}

}  // namespace trainrt::test
