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

TEST_CASE("an error about a missing module names the interpreter") {
  const std::string missing = "ModuleNotFoundError: No module named 'torch'";
  CHECK(interpreter_in_words(missing, "/opt/bin/python3.11") == " (the interpreter is '/opt/bin/python3.11')");
  CHECK(interpreter_in_words(missing, "/bin/bash").empty());
  CHECK(interpreter_in_words("ValueError: bad batch", "/opt/bin/python3.11").empty());
}

TEST_CASE("a failure is permanent only if no rank's program can start") {
  struct Row {
    int exit_code;
    const char* exception;
    bool permanent;
  };
  const std::vector<Row> rows = {{1, "ModuleNotFoundError: No module named 'x'", true},
                                 {1, "ImportError: cannot import name 'f'", true},
                                 {1, "SyntaxError: invalid syntax", true},
                                 {1, "IndentationError: unexpected indent", true},
                                 {127, "", true},
                                 {126, "", true},
                                 {1, "ValueError: ImportError: a quoted name", false},
                                 {2, "", false},
                                 {0, "ImportError", true}};
  for (const auto& row : rows) {
    INFO(row.exit_code << " " << row.exception);
    CHECK(is_permanent(ExitStatus{.exit_code = row.exit_code}, row.exception) == row.permanent);
  }
  auto broken = exited(1, 1);
  broken.is_permanent = true;
  broken.cause = "exited with 1: ImportError: a";
  const auto other = exited(1, 0.5);
  CHECK(failure_of(std::vector{broken, broken}, 0, {}).is_permanent);
  CHECK_FALSE(failure_of(std::vector{broken, running}, 0, {}).is_permanent);
  CHECK_FALSE(failure_of(std::vector{broken, other}, 0, {}).is_permanent);
}

TEST_CASE("a reported exception of an error in the code is a mistake, whichever rank and process had it") {
  const auto reported = [](int pid, const std::string& text) {
    RankExit rank{.host = "n", .pid = pid, .failure = {.text = "failed: " + text + "\nTraceback", .is_reported = true}};
    rank.age_s = 1;
    return rank;
  };
  const auto mistake = [&](const RankExit& rank) { return failure_of(std::vector{running, rank}, 1, {}).mistake; };
  CHECK(mistake(reported(7, "KeyError: 'x'")) == trainrt::Mistake{"exception", "KeyError: 'x'"});
  CHECK(mistake(reported(8, "TypeError: no")) == trainrt::Mistake{"exception", "TypeError: no"});
  for (const auto* const text : {"OSError: [Errno 28] No space left on device", "MemoryError", "RuntimeError: CUDA error",
                                 "torch.cuda.OutOfMemoryError: CUDA out of memory"})
    CHECK(mistake(reported(7, text)).kind.empty());
  auto unreported = exited(1, 1);
  unreported.cause = "TypeError: no";  // a program that does not report its steps either
  CHECK(mistake(unreported).kind.empty());
  CHECK(mistake(killed(SIGKILL, 1)).kind.empty());
}

TEST_CASE("the signature of a failure is empty unless all programs failed, and does not depend on their order") {
  auto a = exited(1, 1), b = exited(1, 2);
  a.cause = "exited with 1: ValueError: a";
  b.cause = "exited with 1: ValueError: b";
  CHECK(failure_of(std::vector{a, running}, 0, {}).signature.empty());
  CHECK(failure_of(std::vector{a, b}, 1, {}).signature == failure_of(std::vector{b, a}, 0, {}).signature);
  CHECK(failure_of(std::vector{a, b}, 1, {}).signature != failure_of(std::vector{a, a}, 0, {}).signature);
}

TEST_CASE("the brief message has no lines of output that rank 0's program printed, too") {
  auto a = exited(1, 1), b = exited(1, 2);
  a.cause = "a";
  b.cause = "b";
  const FailureOutput output{"ValueError: a", "lines"};
  using Catch::Matchers::Contains;
  CHECK_THAT(failure_of(std::vector{a, a}, 1, output).brief, Contains("ValueError: a") && !Contains("lines"));
  CHECK_THAT(failure_of(std::vector{a, b}, 0, output).brief, !Contains("lines"));
  CHECK_THAT(failure_of(std::vector{a, b}, 1, output).brief, Contains("lines"));
  CHECK_THAT(failure_of(std::vector{killed(SIGKILL, 1), killed(SIGKILL, 2)}, 1, output).brief, Contains("lines"));
  CHECK_THAT(failure_of(std::vector{a, a}, 1, output).what(), Contains("lines"));
}
