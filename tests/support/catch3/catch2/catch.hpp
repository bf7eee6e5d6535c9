#pragma once
// Catch2 3 with the names of Catch2 2, for which the tests are written. The build uses this header if it finds Catch2 3.
#include <string>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace Catch {
namespace Matchers {
/// Matches texts that contain `part`. Catch2 3 calls this matcher ContainsSubstring, and its own Contains matches ranges.
inline StringContainsMatcher Contains(const std::string& part, CaseSensitive case_sensitive = CaseSensitive::Yes) {
  return ContainsSubstring(part, case_sensitive);
}
}  // namespace Matchers
using Matchers::Contains;
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::Matches;
using Matchers::StartsWith;
}  // namespace Catch
using Catch::Approx;
