#include <catch2/catch.hpp>

#include "config/intervals.hpp"

using namespace trainrt::config;

TEST_CASE("CheckpointInterval parses reports, steps and seconds, and rejects other texts") {
  const auto parse = [](const char* text) { return CheckpointInterval::parse(text).value(); };
  CHECK(parse("2 reports").due_at_report(4));
  CHECK_FALSE(parse("2 reports").due_at_report(3));
  CHECK_FALSE(parse("2 reports").due_at_step(4));
  CHECK(parse("500 steps").due_at_step(1000));
  CHECK(parse("1.5 s").due_after(1.6));
  CHECK_FALSE(parse("off").due_at_report(1));
  for (const auto* bad : {"", "2", "reports", "0 steps", "-1 s", "1.5 steps", "2 weeks", "2 steps more"}) {
    INFO(bad);
    CHECK_FALSE(CheckpointInterval::parse(bad));
  }
}
