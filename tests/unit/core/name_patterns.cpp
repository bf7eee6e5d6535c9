#include "core/text/name_patterns.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("the last matching pattern decides whether a name is selected") {
  const auto chosen = [](const std::vector<std::string>& patterns, const char* name) {
    return is_selected_by(patterns, name);
  };
  CHECK_FALSE(chosen({}, "model/w"));
  CHECK(chosen({"model/*"}, "model/a/b"));
  CHECK_FALSE(chosen({"model/*"}, "models/a"));
  CHECK_FALSE(chosen({"model/*", "!*/b"}, "model/a/b"));
  CHECK(chosen({"model/*", "!*/b", "model/c/b"}, "model/c/b"));
  CHECK(chosen({"!model/*"}, "optimizer/w"));
  CHECK_FALSE(chosen({"*"}, "trainrt/data"));
  CHECK(chosen({"trainrt/*"}, "trainrt/data"));
}
