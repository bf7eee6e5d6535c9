#include "cli/terminal/table.hpp"

#include <catch2/catch.hpp>

using namespace trainrt::cli;

TEST_CASE("the columns of a table are aligned, and control characters are escaped") {
  Table table({{"name"}, {"bytes", true}});
  table.add({"größe", "7"});
  table.add({"x", "1234567"});
  CHECK(table.text("") == "name     bytes\ngröße        7\nx      1234567\n");
  CHECK(printable("a\x1b[2J") == "\"a\\u001b[2J\"");
  CHECK(printable("größe") == "größe");
}
