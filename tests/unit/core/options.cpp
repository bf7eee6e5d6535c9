#include <catch2/catch.hpp>

#include "core/options.hpp"

#include <trainrt/error.hpp>

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

const std::vector<OptionSpec> specs = {
    {.key = "a.name", .required = true},
    {.key = "a.count", .type = OptionType::integer, .default_value = "3"},
    {.key = "a.rate", .type = OptionType::real},
    {.key = "a.order", .default_value = "max", .choices = {"max", "min"}},
};

Options given(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  Options options;
  int line = 0;
  for (const auto& [key, value] : pairs) options.set(key, {value, "x.ini:" + std::to_string(++line)});
  return options;
}

}  // namespace

TEST_CASE("defaults are filled in, and given values win") {
  const auto options = checked(given({{"a.name", "n"}, {"a.rate", "0.5"}}), specs, "");
  CHECK(options.integer("a.count") == 3);
  CHECK(options.real("a.rate") == 0.5);
  CHECK(options.text("a.order") == "max");
  CHECK(checked(given({{"a.name", "n"}, {"a.count", "7"}}), specs, "").integer("a.count") == 7);
}

TEST_CASE("an unknown key names its line and the nearest key") {
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.cuont", "1"}}), specs, ""),
                    Contains("x.ini:2") && Contains("'a.cuont'") && Contains("'a.count'"));
}

TEST_CASE("a bad value says what is valid") {
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.count", "3x"}}), specs, ""),
                    Contains("x.ini:2") && Contains("a whole number"));
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.order", "up"}}), specs, ""), Contains("max, min"));
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.rate", ""}}), specs, ""), Contains("a number"));
}

TEST_CASE("a missing required key is named") { CHECK_THROWS_AS(checked(given({}), specs, ""), UsageError); }

TEST_CASE("numbers are whole words: no trailing letters, blanks or signs alone") {
  CHECK(parse_integer("12") == 12);
  CHECK(parse_integer("-12") == -12);
  for (const auto* bad : {"", " 1", "1 ", "1.0", "0x10", "-", "99999999999999999999"})
    CHECK_FALSE(parse_integer(bad).has_value());
  CHECK(parse_real("1e-3") == 1e-3);
  CHECK_FALSE(parse_real("1e-3x").has_value());
  CHECK(parse_boolean("yes") == true);
  CHECK_FALSE(parse_boolean("maybe").has_value());
}
