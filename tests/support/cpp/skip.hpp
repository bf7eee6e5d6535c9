#pragma once
#include <iostream>
#include <string>

#include <catch2/catch.hpp>

namespace trainrt::test {

/// Reports that a test case, or the rest of it, cannot run here. tests/run.sh counts the printed lines. The assertion keeps
/// Catch2 from failing the case for having no assertions.
inline void skip(const std::string& reason) {
  std::cout << "skipped: " << reason << std::endl;
  SUCCEED("skipped");
}

}  // namespace trainrt::test
