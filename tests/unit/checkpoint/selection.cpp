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

TEST_CASE("patterns that begin with an exclusion select all other names") {
  CHECK(selects({{"!head*"}}, "body"));
  CHECK_FALSE(selects({{"!head*"}}, "head/w"));
  CHECK_FALSE(selects({{"!head*"}}, "trainrt/data"));
}

TEST_CASE("names of the runtime are selected only by patterns that begin with trainrt/") {
  CHECK_FALSE(selects({{"*"}}, "trainrt/data"));
  CHECK(selects({{"trainrt/*"}}, "trainrt/data"));
  CHECK(selects({{"trainrt/*", "!*"}}, "trainrt/data"));
  CHECK_FALSE(selects({{"trainrt/*", "!trainrt/d*"}}, "trainrt/data"));
}
