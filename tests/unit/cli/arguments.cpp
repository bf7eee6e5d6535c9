#include "cli/command_line/arguments.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::cli;
using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

TEST_CASE("an abbreviated option is an error that suggests the option") {
  const Words words = {"--conf", "x.ini"};
  CHECK_THROWS_WITH(parse_arguments(words, {.with_value = {"config"}, .usage = "u"}), Contains("--config"));
  const Words twice = {"--config=a", "--config=b"};
  CHECK_THROWS_AS(parse_arguments(twice, {.with_value = {"config"}, .usage = "u"}), UsageError);
  const Words good = {"--config", "a.ini", "--loop.lr=1"};
  CHECK(parse_arguments(good, {.with_value = {"config"}, .overrides = true, .usage = "u"}).overrides ==
        Words{"--loop.lr=1"});
}

TEST_CASE("a missing operand is an error that names it as the usage does") {
  const ArgumentSpec spec{.with_value = {"output"},
                          .min_operands = 2,
                          .max_operands = 2,
                          .usage = "convert [--fast] FILE|FOLDER... -o OUT.h5 NAME"};
  CHECK_THROWS_WITH(parse_arguments(Words{}, spec), Contains("missing argument FILE|FOLDER...; usage: trainrt convert"));
  CHECK_THROWS_WITH(parse_arguments(Words{"x"}, spec), Contains("missing argument NAME;"));
}

TEST_CASE("an unexpected argument is an error that quotes it, and explains -- if a program is possible") {
  const Words words{"python3", "train.py"};
  CHECK_THROWS_WITH(parse_arguments(words, {.usage = "list"}), "unexpected argument 'python3'; usage: trainrt list");
  CHECK_THROWS_WITH(parse_arguments(words, {.program = true, .usage = "run"}),
                    Contains("unexpected argument 'python3' (put -- before the name of a program)"));
  const auto parsed = parse_arguments(Words{"--", "python3", "--x"}, {.program = true, .usage = "run"});
  REQUIRE(parsed.program);
  CHECK(*parsed.program == Words{"python3", "--x"});
}

TEST_CASE("-o is the short form of --output, for commands with that option only") {
  const Words words{"-o", "out.h5"};
  CHECK(parse_arguments(words, {.with_value = {"output"}, .usage = "u"}).options.at("output") == "out.h5");
  CHECK_THROWS_WITH(parse_arguments(words, {.max_operands = 2, .usage = "u"}), Contains("unknown option '-o'"));
}

TEST_CASE("a switch with an optional value accepts a value only after an equals sign") {
  const ArgumentSpec spec{.switches = {"best"}, .optional_value = {"best"}, .max_operands = 1, .usage = "u"};
  CHECK(parse_arguments(Words{"run", "--best=loss:min"}, spec).options.at("best") == "loss:min");
  CHECK(parse_arguments(Words{"--best", "run"}, spec).options.at("best").empty());
  CHECK(parse_arguments(Words{"--best", "run"}, spec).operands == Words{"run"});
  CHECK_THROWS_WITH(parse_arguments(Words{"--best", "--best=loss"}, spec), Contains("--best is given twice"));
  CHECK_THROWS_AS(parse_arguments(Words{"--best=loss"}, {.switches = {"best"}, .usage = "u"}), UsageError);
}

TEST_CASE("a key without its section is an error with an example, for commands that accept keys") {
  const Words words{"--lr=0.1"};
  CHECK_THROWS_WITH(parse_arguments(words, {.overrides = true, .usage = "u"}),
                    Contains("unknown option '--lr=0.1': a config key needs its section, for example --loop.lr=0.1"));
  CHECK_THROWS_WITH(parse_arguments(words, {.usage = "u"}), !Contains("--loop"));
}
