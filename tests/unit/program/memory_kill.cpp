#include "program/children/memory_kill.hpp"

#include <csignal>

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::program;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

std::string words(const ExitStatus& ending, const MemoryKills& before, const MemoryKills& after) {
  return memory_kill_in_words(ending, {.before = before, .after = after, .held_bytes = 3 * gib, .limit_bytes = 4 * gib});
}

struct Row {
  const char* story;
  ExitStatus ending;
  MemoryKills before;
  MemoryKills after;
  const char* words;
};

}  // namespace

TEST_CASE("the out-of-memory killer is named as the cause as far as its counts prove it") {
  const ExitStatus good{}, killed{.signal = SIGKILL}, failed{.exit_code = 1}, of_shell{.exit_code = 137};
  const auto* figures = "(the largest process of the program held 3.0 GiB, and the limit is 4.0 GiB)";
  const std::vector<Row> rows = {{"a kill in the cgroup", killed, {2, 5}, {3, 6}, "by the kernel's out-of-memory killer "},
                                 {"a process that the program had started",
                                  failed,
                                  {2, 5},
                                  {3, 6},
                                  "after the kernel's out-of-memory killer had ended a process of its cgroup "},
                                 {"a program in a shell",
                                  of_shell,
                                  {2, 5},
                                  {3, 6},
                                  "after the kernel's out-of-memory killer had ended a process of its cgroup "},
                                 {"a program that continued after the kill", good, {2, 5}, {3, 6}, ""},
                                 {"a kill -9 by a user", killed, {2, 5}, {2, 5}, ""},
                                 {"a kill -9 by a user, while another job ran out of memory", killed, {2, 5}, {2, 6}, ""},
                                 {"only the node's count is available",
                                  killed,
                                  {{}, 5},
                                  {{}, 6},
                                  "perhaps by the kernel's out-of-memory killer, which killed processes on this node "},
                                 {"only the node's count is available, in a shell",
                                  of_shell,
                                  {{}, 5},
                                  {{}, 6},
                                  "perhaps by the kernel's out-of-memory killer, which killed processes on this node "},
                                 {"an exception, while another job ran out of memory", failed, {{}, 5}, {{}, 6}, ""},
                                 {"no counts", killed, {}, {}, ""},
                                 {"the cgroup did not exist at the end",
                                  killed,
                                  {2, 5},
                                  {{}, 6},
                                  "perhaps by the kernel's out-of-memory killer, which killed processes on this node "}};
  for (const auto& row : rows) {
    INFO(row.story);
    const std::string expected(row.words);
    CHECK(words(row.ending, row.before, row.after) == (expected.empty() ? "" : expected + figures));
  }
}

TEST_CASE("the text about the out-of-memory killer follows the signal or exit code") {
  CHECK(ExitStatus{.signal = SIGKILL, .memory = "by it"}.in_words() == "was ended by SIGKILL, by it");
  CHECK(ExitStatus{.exit_code = 137, .memory = "after it"}.in_words() == "exited with 137, after it");
}

TEST_CASE("the kernel's counts and limits can be read here") {
  const auto kills = memory_kills();
  REQUIRE(kills.node.has_value());
  CHECK(kills.cgroup.value_or(0) <= *kills.node);
  CHECK(memory_limit() >= available_memory());
  CHECK(memory_limit() < std::uint64_t{1} << 50);
}
