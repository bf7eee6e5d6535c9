// RankGroup: the programs of the ranks are shell scripts that send the PMI-1 requests of each test.
#include <csignal>
#include <cstdlib>
#include <thread>

#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "launch/rank_group.hpp"

using namespace trainrt;
using namespace trainrt::launch;

namespace {

struct Outcome {
  GroupEnd end;
  double seconds;
};

Outcome run(const std::string& script, int size, const GroupLimits& limits = {}) {
  const double began = monotonic_seconds();
  RankGroup group({"/bin/bash", "-c", script}, size, limits);
  while (!group.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return {group.end(), monotonic_seconds() - began};
}

const std::string block = "exec sleep 1000";
const std::string barrier = "echo cmd=barrier_in >&$PMI_FD; read -r -u $PMI_FD answer; ";
const std::string finalize = "echo cmd=finalize >&$PMI_FD; read -r -u $PMI_FD answer; ";

}  // namespace

TEST_CASE("a group ends with exit code 0 if its ranks finalize") {
  CHECK(run(barrier + barrier + finalize + "[ $answer = cmd=finalize_ack ]", 3).end.exit_code == 0);
}

TEST_CASE("a rank that never reaches a barrier ends the group after start_s") {
  const auto outcome = run("[ $PMI_RANK = 1 ] || " + barrier + block, 3, {.start_s = 0.3});
  CHECK(outcome.end.exit_code == 70);
  CHECK(outcome.end.rank != 1);
  CHECK(outcome.seconds >= 0.3);
}

TEST_CASE("a rank that misses a later barrier ends the group after later_s") {
  const auto outcome = run(barrier + "[ $PMI_RANK = 1 ] || " + barrier + block, 2, {.start_s = 60, .later_s = 0.3});
  CHECK(outcome.end.exit_code == 70);
  CHECK(outcome.end.rank == 0);
}

TEST_CASE("a killed rank ends the group with the code of its signal") {
  const auto outcome = run("[ $PMI_RANK = 1 ] && kill -KILL $$; " + barrier + block, 3);
  CHECK(outcome.end.exit_code == 128 + 9);
  CHECK(outcome.end.rank == 1);
}

TEST_CASE("a rank that aborts ends the group at once with its code") {
  const auto outcome = run("[ $PMI_RANK = 2 ] && echo cmd=abort exitcode=76 >&$PMI_FD; " + block, 3);
  CHECK(outcome.end.exit_code == 76);
  CHECK(outcome.end.rank == 2);
  // An error number of MPI is not an exit code.
  CHECK(run("echo cmd=abort exitcode=406441615 >&$PMI_FD; " + block, 1).end.exit_code == 70);
}

TEST_CASE("the exit code of a group is that of the first failed rank") {
  CHECK(run("sleep 0.$PMI_RANK; exit $((40 + PMI_RANK))", 3).end.exit_code == 40);
}

namespace {

/// Returns a script that waits as a standby, and then runs `script` with the first variable that it receives in $variable.
std::string standby(const std::string& script) { return "read -r -d '' -u $TRAINRT_STANDBY variable || exit 1; " + script; }

RankGroup start_standby(const std::string& script) {
  return {{"/bin/bash", "-c", standby(script)}, 2, {}, {}, RankGroup::Start::as_standby};
}

int code_of(RankGroup& group) {
  while (!group.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return group.end().exit_code;
}

void wait_until_incomplete(RankGroup& group) {
  while (group.is_complete()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

TEST_CASE("a standby begins when it is needed, with the variables that changed after its start") {
  unsetenv("TRAINRT_TEST_VALUE");
  auto group = start_standby("[ $variable = TRAINRT_TEST_VALUE=7 ] || exit 3; " + barrier + finalize);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(group.is_complete());
  setenv("TRAINRT_TEST_VALUE", "7", 1);
  group.begin();
  CHECK(code_of(group) == 0);
  unsetenv("TRAINRT_TEST_VALUE");
}

TEST_CASE("a standby that was stopped begins") {
  auto group = start_standby(barrier + finalize);
  group.signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  group.begin();
  CHECK(code_of(group) == 0);
}

TEST_CASE("a standby is incomplete after one of its processes has ended") {
  auto group = start_standby(block);
  CHECK(group.is_complete());
  group.signal(SIGKILL);
  wait_until_incomplete(group);
}
