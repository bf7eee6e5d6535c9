#include "program/protocol/rank_exits.hpp"

#include <csignal>

#include <catch2/catch.hpp>

using namespace trainrt::program;

namespace {

RankExit exited(int code, double age_s) {
  return {.host = "n", .pid = 7, .has_exited = true, .status = {.exit_code = code}, .age_s = age_s};
}

RankExit killed(int signal, double age_s) {
  return {.host = "n", .pid = 7, .has_exited = true, .status = {.signal = signal}, .age_s = age_s};
}

const RankExit running{.host = "n", .pid = 7};

struct Row {
  const char* story;
  std::vector<RankExit> ranks;
  int first;
};

}  // namespace

TEST_CASE("the program that failed first is the cause, and a killed program precedes those that noticed it") {
  const std::vector<Row> rows = {
      {"no program has failed", {running, exited(0, 5)}, -1},
      {"the only failed program", {running, exited(0, 5), exited(1, 0.1)}, 2},
      {"the program that ended first", {exited(1, 0.5), exited(3, 0.9), exited(1, 0.2)}, 1},
      {"a program that exited with 0 earlier is not the cause", {exited(0, 9), exited(1, 0.2)}, 1},
      {"its peers ended before the killed program", {exited(1, 0.5), killed(SIGKILL, 0.3)}, 1},
      {"the first of two killed programs", {killed(SIGKILL, 0.5), killed(SIGSEGV, 0.9), exited(1, 2)}, 1},
      {"a survivor that aborts does not count as killed", {killed(SIGABRT, 0.5), exited(1, 0.9)}, 1},
      {"an abort that came first", {exited(1, 0.5), killed(SIGABRT, 0.9)}, 1}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(first_failed(row.ranks) == row.first);
  }
}

TEST_CASE("the error names rank, host, process and the number of later failures") {
  const auto words = [](std::vector<RankExit> ranks, const FailureOutput& output = {}) {
    return failure_in_words(ranks, first_failed(ranks), output);
  };
  CHECK(words({running, killed(SIGKILL, 1)}) ==
        "the program of rank 1 on n (train.program, process 7) was ended by SIGKILL");
  CHECK(words({exited(1, 0.5), killed(SIGKILL, 1), exited(0, 2)}) ==
        "the program of rank 1 on n (train.program, process 7) was ended by SIGKILL; the program of 1 other rank failed "
        "afterwards");
  CHECK(words({exited(1, 0.5), exited(9, 1), exited(1, 0.2)}) ==
        "the program of rank 1 on n (train.program, process 7) exited with 9; the programs of 2 other ranks failed "
        "afterwards");
  CHECK(words({exited(1, 0.5), exited(9, 1)}, {"ValueError: bad batch", "a\nValueError: bad batch"}) ==
        "the program of rank 1 on n (train.program, process 7) exited with 9: ValueError: bad batch; the program of 1 "
        "other rank failed afterwards\nits last lines (logs/rank-00001.log has all):\na\nValueError: bad batch");
}
