#include "program/protocol/endings.hpp"

#include <csignal>

#include <catch2/catch.hpp>

using namespace trainrt::program;

namespace {

RankEnding exited(int code, double age_s) {
  return {.host = "n", .pid = 7, .has_ended = true, .ending = {.exit_code = code}, .age_s = age_s};
}

RankEnding killed(int signal, double age_s) {
  return {.host = "n", .pid = 7, .has_ended = true, .ending = {.signal = signal}, .age_s = age_s};
}

const RankEnding running{.host = "n", .pid = 7};

struct Row {
  const char* story;
  std::vector<RankEnding> ranks;
  int first;
};

}  // namespace

TEST_CASE("of the programs that fell, the first is the cause, and one that was killed before all that noticed it") {
  const std::vector<Row> rows = {
      {"none has fallen", {running, exited(0, 5)}, -1},
      {"the only one", {running, exited(0, 5), exited(1, 0.1)}, 2},
      {"the one that ended first", {exited(1, 0.5), exited(3, 0.9), exited(1, 0.2)}, 1},
      {"one that ended well before fell with nobody", {exited(0, 9), exited(1, 0.2)}, 1},
      {"its peers ended before the kernel had ended it", {exited(1, 0.5), killed(SIGKILL, 0.3)}, 1},
      {"of two that were killed, the first", {killed(SIGKILL, 0.5), killed(SIGSEGV, 0.9), exited(1, 2)}, 1},
      {"a survivor that aborts is none that was killed", {killed(SIGABRT, 0.5), exited(1, 0.9)}, 1},
      {"an abort that came first", {exited(1, 0.5), killed(SIGABRT, 0.9)}, 1}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(first_to_fall(row.ranks) == row.first);
  }
}

TEST_CASE("the words for it name rank, host, process and how many fell after it") {
  const auto words = [](std::vector<RankEnding> ranks, const LastOutput& output = {}) {
    return fall_in_words(ranks, first_to_fall(ranks), output);
  };
  CHECK(words({running, killed(SIGKILL, 1)}) ==
        "the program of rank 1 on n (train.program, process 7) was ended by SIGKILL");
  CHECK(words({exited(1, 0.5), killed(SIGKILL, 1), exited(0, 2)}) ==
        "the program of rank 1 on n (train.program, process 7) was ended by SIGKILL; that of 1 other rank ended after it");
  CHECK(words({exited(1, 0.5), exited(9, 1), exited(1, 0.2)}) ==
        "the program of rank 1 on n (train.program, process 7) exited with 9; those of 2 other ranks ended after it");
  CHECK(words({exited(1, 0.5), exited(9, 1)}, {"ValueError: bad batch", "a\nValueError: bad batch"}) ==
        "the program of rank 1 on n (train.program, process 7) exited with 9: ValueError: bad batch; that of 1 other rank "
        "ended after it\nits last lines (logs/rank-00001.log has all):\na\nValueError: bad batch");
}
