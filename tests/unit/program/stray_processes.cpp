#include "program/children/stray_processes.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <catch2/catch.hpp>

#include "core/process/processes.hpp"
#include "program/children/child.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::program;

namespace {

bool becomes_true(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Returns the number in the file, or 0 if the file does not exist yet.
pid_t number_in(const std::string& path) {
  pid_t number = 0;
  std::ifstream(path) >> number;
  return number;
}

ChildPlan shell(const std::string& script, Variables environment = {}) {
  return {.start = {.command = {"sh", "-c", script}, .executable = "/bin/sh", .environment = std::move(environment)}};
}

}  // namespace

TEST_CASE("a process that has left the program's session is killed with the program") {
  const test::Scratch dir;
  const auto file = dir / "pid";
  // Its parent exits at once, the process has its own session and group, and it ignores signals.
  const auto script = "(setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > " + file + "; sleep 300' &) ; ";
  for (const auto& end : std::vector<std::string>{"sleep 300", "until test -s " + file + "; do sleep 0.01; done"}) {
    INFO(end);
    std::filesystem::remove(file);
    pid_t left = 0;
    {
      Child child(shell(script + end));
      REQUIRE(becomes_true([&] { return (left = number_in(file)) > 0; }));
      CHECK(runs(left));
      if (end != "sleep 300") CHECK(child.ends_within(10));
    }
    CHECK(becomes_true([&] { return !runs(left); }));
  }
}

TEST_CASE("a job that the program submitted is not killed") {
  const test::Scratch dir;
  const auto file = dir / "pid";
  setenv("SLURM_JOB_ID", "4711", 1);
  pid_t other = 0;
  {
    Child child(shell("(SLURM_JOB_ID=4712 setsid sh -c 'echo $$ > " + file + "; exec sleep 300' &) ; sleep 300",
                      {{"SLURM_JOB_ID", "4711"}}));
    REQUIRE(becomes_true([&] { return (other = number_in(file)) > 0; }));
  }
  unsetenv("SLURM_JOB_ID");
  CHECK(runs(other));
  kill(other, SIGKILL);
}
