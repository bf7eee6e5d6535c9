#include "checkpoint/load/load.hpp"

#include <catch2/catch.hpp>

using trainrt::checkpoint::Selection;
using trainrt::checkpoint::selects;

TEST_CASE("the last pattern that matches a name decides") {
  CHECK(selects({{}}, "model/w"));
  CHECK(selects({{}}, "trainrt/data"));
  CHECK(selects({{"model/*"}}, "model/a/b"));
  CHECK_FALSE(selects({{"model/*"}}, "optimizer/a"));
  CHECK_FALSE(selects({{"model/*", "!model/head/*"}}, "model/head/w"));
  CHECK(selects({{"model/*", "!model/head/*", "model/head/bias"}}, "model/head/bias"));
  CHECK(selects({{"model/l?y[ae]r"}}, "model/layer"));
}

TEST_CASE("patterns that begin by keeping names out take all others in") {
  CHECK(selects({{"!head*"}}, "body"));
  CHECK_FALSE(selects({{"!head*"}}, "head/w"));
  CHECK_FALSE(selects({{"!head*"}}, "trainrt/data"));
}

TEST_CASE("the runtime's own names are taken only by patterns that say so") {
  CHECK_FALSE(selects({{"*"}}, "trainrt/data"));
  CHECK(selects({{"trainrt/*"}}, "trainrt/data"));
  CHECK(selects({{"trainrt/*", "!*"}}, "trainrt/data"));
  CHECK_FALSE(selects({{"trainrt/*", "!trainrt/d*"}}, "trainrt/data"));
}
