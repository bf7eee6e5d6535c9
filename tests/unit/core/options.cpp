#include <catch2/catch.hpp>

#include "core/options.hpp"

#include <trainrt/error.hpp>

#include "core/process/child_process.hpp"
#include "core/process/memory.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

const std::vector<OptionSpec> specs = {
    {.key = "a.name", .required = true},
    {.key = "a.count", .type = OptionType::integer, .default_value = "3"},
    {.key = "a.rate", .type = OptionType::real},
    {.key = "a.order", .default_value = "max", .choices = {"max", "min"}},
    {.key = "a.limit", .type = OptionType::real, .range = any_time},
    {.key = "a.share", .type = OptionType::real, .range = {.least = 0, .below = 1}},
    {.key = "a.slope", .type = OptionType::real, .range = {.below = 1}},
    {.key = "a.threads", .type = OptionType::integer, .range = {.least = 1, .most = max_int}},
};

Options given(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  Options options;
  int line = 0;
  for (const auto& [key, value] : pairs) options.set(key, {value, "x.ini:" + std::to_string(++line)});
  return options;
}

}  // namespace

TEST_CASE("defaults are added, and given values override them") {
  const auto options = checked(given({{"a.name", "n"}, {"a.rate", "0.5"}}), specs, "");
  CHECK(options.integer("a.count") == 3);
  CHECK(options.real("a.rate") == 0.5);
  CHECK(options.text("a.order") == "max");
  CHECK(checked(given({{"a.name", "n"}, {"a.count", "7"}}), specs, "").integer("a.count") == 7);
}

TEST_CASE("an unknown key is an error that names its line and the nearest key") {
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.cuont", "1"}}), specs, ""),
                    Contains("x.ini:2") && Contains("'a.cuont'") && Contains("'a.count'"));
}

TEST_CASE("an unknown key that is a synonym of a key is an error that names this key") {
  const std::vector<OptionSpec> source = {{.key = "pack"}, {.key = "source", .synonyms = "file, path"}};
  CHECK_THROWS_WITH(checked(given({{"path", "f.csv"}}), source, ""), Contains("(did you mean 'source'?)"));
}

TEST_CASE("an invalid value is an error that names the valid values") {
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.count", "3x"}}), specs, ""),
                    Contains("x.ini:2") && Contains("a whole number"));
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.order", "up"}}), specs, ""), Contains("max, min"));
  CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {"a.rate", ""}}), specs, ""), Contains("a number"));
}

TEST_CASE("a missing required key is an error that names it") {
  CHECK_THROWS_AS(checked(given({}), specs, ""), UsageError);
}

TEST_CASE("a key can be required unless another is given") {
  const std::vector<OptionSpec> either = {{.key = "label", .required_unless = "bounds"}, {.key = "bounds"}};
  CHECK_THROWS_WITH(checked(given({}), either, "[loop]"), Contains("label") && Contains("[loop]"));
  CHECK(checked(given({{"bounds", "b"}}), either, "[loop]").find("label") == nullptr);
  CHECK(checked(given({{"label", "y"}}), either, "[loop]").text("label") == "y");
  CHECK_THAT(facts_of(either.front()), Contains("unless bounds"));
}

TEST_CASE("a number with trailing letters, blanks or a lone sign is invalid") {
  CHECK(parse_integer("12") == 12);
  CHECK(parse_integer("-12") == -12);
  for (const auto* bad : {"", " 1", "1 ", "1.0", "0x10", "-", "99999999999999999999"})
    CHECK_FALSE(parse_integer(bad).has_value());
  CHECK(parse_real("1e-3") == 1e-3);
  CHECK_FALSE(parse_real("1e-3x").has_value());
  CHECK(parse_boolean("yes") == true);
  CHECK_FALSE(parse_boolean("maybe").has_value());
}

TEST_CASE("a number outside its range is an error that names its line and the range") {
  struct Case {
    const char *key, *value, *valid;
  };
  for (const auto& c :
       {Case{"a.limit", "1e-320", "from 0.001 to 1000000000"}, Case{"a.limit", "1e300", "from 0.001"},
        Case{"a.limit", "-1", "from 0.001"}, Case{"a.limit", "0", "from 0.001"}, Case{"a.limit", "nan", "a number"},
        Case{"a.limit", "inf", "a number"}, Case{"a.rate", "nan", "a number"}, Case{"a.rate", "-inf", "a number"},
        Case{"a.share", "1", "from 0 to less than 1"}, Case{"a.share", "-0.1", "from 0 to less than 1"},
        Case{"a.slope", "1", "a number below 1"}, Case{"a.threads", "0", "from 1 to 2147483647"},
        Case{"a.threads", "2147483648", "from 1"}, Case{"a.threads", "9223372036854775807", "from 1"}}) {
    CAPTURE(c.key, c.value);
    CHECK_THROWS_WITH(checked(given({{"a.name", "n"}, {c.key, c.value}}), specs, ""),
                      Contains("x.ini:2") && Contains(c.value) && Contains(c.valid));
  }
  CHECK_NOTHROW(checked(given({{"a.name", "n"}, {"a.limit", "0.001"}, {"a.share", "0"}, {"a.threads", "1"}}), specs, ""));
}

TEST_CASE("brackets inside JSON strings do not count as nesting") {
  CHECK_FALSE(is_nested_deeper("[[1, {}]]", 3));
  CHECK(is_nested_deeper("[[1, {}]]", 2));
  CHECK_FALSE(is_nested_deeper(R"({"[[[\"[[[": "]{{{"})", 1));
  CHECK_FALSE(is_nested_deeper("[][][][]", 1));
  CHECK(is_nested_deeper(std::string(80'000, '['), max_json_depth));
}

TEST_CASE("a shell reads each quoted word of a printed command unchanged") {
  CHECK(shell_quoted("/scratch/me/runs_1,2/x.y") == "/scratch/me/runs_1,2/x.y");
  for (const std::string word :
       {"", "my runs/x", "it's", "$HOME", "a\"b", "a\\b", "*", "line\nbreak", "~", "!x", "caf\xc3\xa9"}) {
    CAPTURE(word);
    const auto output = run_child({"sh", "-c", "printf %s " + shell_quoted(word)}, 20, ChildErrors::with_output);
    REQUIRE(output);
    CHECK(output->text == word);
  }
}

TEST_CASE("require_memory throws an error with the requested and the available bytes") {
  CHECK_NOTHROW(require_memory(1 << 20, "a megabyte"));
  CHECK_THROWS_WITH(require_memory(std::uint64_t{1} << 60, "[data.train]: samples"),
                    Contains("[data.train]: samples takes 1073741824.0 GiB") && Contains("are left on"));
  CHECK_THAT(out_of_memory_text(), Contains("out of memory"));
}
