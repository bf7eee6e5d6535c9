#include "core/text.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("the hash of a name is FNV-1a and stays it") {
  CHECK(stable_hash("") == 0xcbf29ce484222325);
  CHECK(stable_hash("a") == 0xaf63dc4c8601ec8c);
  CHECK(stable_hash("foobar") == 0x85944171f73967e8);
}
