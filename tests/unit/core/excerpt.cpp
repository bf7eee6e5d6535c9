#include "core/text.hpp"

#include <catch2/catch.hpp>

using trainrt::excerpt;

TEST_CASE("a short text is quoted as it is") {
  CHECK(excerpt("") == "");
  CHECK(excerpt("abc", 3) == "abc");
  CHECK(excerpt(std::string(300, 'x')).size() == 300);
}

TEST_CASE("of a long text the beginning is quoted, with its length") {
  CHECK(excerpt("abcdef", 3) == "abc... (6 bytes)");
  CHECK(excerpt(std::string(1'000'000, 'x')).size() < 330);
}

TEST_CASE("a character of several bytes is quoted whole or not at all") {
  CHECK(excerpt("ab\u00e9cd", 3) == "ab... (6 bytes)");
  CHECK(excerpt("\xbf\xbf\xbf\xbf", 2) == "... (4 bytes)");
}
