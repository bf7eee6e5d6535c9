#include "cli/command_line/arguments.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::cli;
using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

namespace {

constexpr CommandOption config_only[] = {{"config", "FILE", "config"}};
constexpr CommandOption output_only[] = {{"output", "FILE", "output"}, {"-n", "N", "not parsed"}};

}  // namespace

TEST_CASE("an abbreviated option is an error that suggests the option") {
  const Words words = {"--conf", "x.ini"};
  CHECK_THROWS_WITH(parse_arguments(words, {.options = config_only, .usage = "u"}), Contains("--config"));
  const Words twice = {"--config=a", "--config=b"};
  CHECK_THROWS_AS(parse_arguments(twice, {.options = config_only, .usage = "u"}), UsageError);
  const Words good = {"--config", "a.ini", "--loop.lr=1"};
  CHECK(parse_arguments(good, {.options = config_only, .overrides = true, .usage = "u"}).overrides == Words{"--loop.lr=1"});
}

TEST_CASE("a missing operand is an error that names it as the usage does") {
  const ArgumentSpec spec{.options = output_only,
                          .min_operands = 2,
                          .max_operands = 2,
                          .usage = "convert [--fast] FILE|FOLDER... -o OUT.h5 NAME"};
  CHECK_THROWS_WITH(parse_arguments(Words{}, spec), Contains("missing argument: FILE or FOLDER; usage: trainrt convert"));
  CHECK_THROWS_WITH(parse_arguments(Words{"x"}, spec), Contains("missing argument: NAME;"));
}

TEST_CASE("an unexpected argument is an error that quotes it, and explains -- if a program is possible") {
  const Words words{"python3", "train.py"};
  CHECK_THROWS_WITH(parse_arguments(words, {.usage = "list"}), "unexpected argument 'python3'; usage: trainrt list");
  CHECK_THROWS_WITH(parse_arguments(words, {.program = true, .usage = "check"}),
                    "unexpected argument 'python3'; to run a program, put -- before it: trainrt check -- python3 train.py");
  const auto parsed = parse_arguments(Words{"--", "python3", "--x"}, {.program = true, .usage = "run"});
  REQUIRE(parsed.program);
  CHECK(*parsed.program == Words{"python3", "--x"});
}

TEST_CASE("-o is the short form of --output, for commands with that option only") {
  const Words words{"-o", "out.h5"};
  CHECK(parse_arguments(words, {.options = output_only, .usage = "u"}).options.at("output") == "out.h5");
  CHECK_THROWS_WITH(parse_arguments(words, {.max_operands = 2, .usage = "u"}), Contains("unknown option '-o'"));
}

TEST_CASE("an option without its value is an error that shows the option with its argument") {
  CHECK_THROWS_WITH(parse_arguments(Words{"--config"}, {.options = config_only, .usage = "u"}),
                    "option --config has no value: --config FILE; usage: trainrt u");
  CHECK_THROWS_WITH(parse_arguments(Words{"--config", "--config"}, {.options = config_only, .usage = "u"}),
                    Contains("--config FILE"));
}

TEST_CASE("an option whose name begins with a dash is only shown in the help") {
  CHECK_THROWS_WITH(parse_arguments(Words{"-n", "2"}, {.options = output_only, .max_operands = 2, .usage = "u"}),
                    Contains("unknown option '-n'"));
}

TEST_CASE("an option with an optional value accepts a value only after an equals sign") {
  constexpr CommandOption options[] = {{"best", "[=METRIC]", "the best"}};
  const ArgumentSpec spec{.options = options, .max_operands = 1, .usage = "u"};
  CHECK(parse_arguments(Words{"run", "--best=loss:min"}, spec).options.at("best") == "loss:min");
  CHECK(parse_arguments(Words{"--best", "run"}, spec).options.at("best").empty());
  CHECK(parse_arguments(Words{"--best", "run"}, spec).operands == Words{"run"});
  CHECK_THROWS_WITH(parse_arguments(Words{"--best", "--best=loss"}, spec), Contains("--best is given twice"));
  CHECK_THROWS_WITH(parse_arguments(Words{"--best="}, spec), Contains("--best= has no value"));
}
