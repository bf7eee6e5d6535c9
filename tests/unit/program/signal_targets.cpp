#include "program/children/signal_targets.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>

using namespace trainrt::program;

namespace {

struct Row {
  const char* story;
  std::vector<GroupMember> group;
  std::vector<pid_t> expected;
};

}  // namespace

TEST_CASE("a stop signal goes to the first processes that catch it, from the program's first process down") {
  const std::vector<Row> rows = {
      {"the program itself", {{10, 1, true}}, {10}},
      {"its workers have inherited the handler, and are left to it", {{10, 1, true}, {11, 10, true}, {12, 10, true}}, {10}},
      {"a shell that started it catches no signal", {{10, 1, false}, {11, 10, true}, {12, 11, true}}, {11}},
      {"in a pipeline, only the process that catches it", {{10, 1, false}, {11, 10, true}, {12, 10, false}}, {11}},
      {"both ends of a pipeline", {{10, 1, false}, {11, 10, true}, {12, 10, true}}, {11, 12}},
      {"two shells", {{12, 11, true}, {11, 10, false}, {10, 1, false}}, {12}},
      {"no process: the complete group", {{10, 1, false}, {11, 10, false}}, {}},
      {"a process of an exited parent is no descendant", {{10, 1, false}, {11, 1, true}}, {}},
      {"the first process has ended", {{11, 10, true}}, {}},
      {"a process that is its own parent does not cause an endless loop", {{10, 10, false}, {11, 10, true}}, {11}}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(first_to_catch(row.group, 10) == row.expected);
  }
}

TEST_CASE("the group of this process is read from /proc, with the processes that catch a signal") {
  const auto mine = [](int number) {
    for (const auto& member : members_of_group(getpgrp(), number))
      if (member.pid == getpid()) return std::optional(member);
    return std::optional<GroupMember>();
  };
  const auto before = std::signal(SIGUSR2, SIG_DFL);
  REQUIRE(mine(SIGUSR2));
  CHECK(mine(SIGUSR2)->parent == getppid());
  CHECK_FALSE(mine(SIGUSR2)->catches);
  std::signal(SIGUSR2, [](int) {});
  CHECK(mine(SIGUSR2)->catches);
  CHECK_FALSE(mine(SIGWINCH)->catches);
  std::signal(SIGUSR2, before);
}
