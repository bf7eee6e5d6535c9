// Ranks of a step on this node; the programs are shells that speak as much PMI-1 as each case needs.
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

const std::string wait_for_ever = "exec sleep 1000";
const std::string meet = "echo cmd=barrier_in >&$PMI_FD; read -r -u $PMI_FD answer; ";
const std::string leave = "echo cmd=finalize >&$PMI_FD; read -r -u $PMI_FD answer; ";

}  // namespace

TEST_CASE("ranks that meet, and leave, end well") {
  CHECK(run(meet + meet + leave + "[ $answer = cmd=finalize_ack ]", 3).end.exit_code == 0);
}

TEST_CASE("a rank that does not come is not waited for longer than the limit") {
  const auto outcome = run("[ $PMI_RANK = 1 ] || " + meet + wait_for_ever, 3, {.start_s = 0.3});
  CHECK(outcome.end.exit_code == 70);
  CHECK(outcome.end.rank != 1);
  CHECK(outcome.seconds >= 0.3);
}

TEST_CASE("a rank that came before and does not come again has the other limit") {
  const auto outcome = run(meet + "[ $PMI_RANK = 1 ] || " + meet + wait_for_ever, 2, {.start_s = 60, .later_s = 0.3});
  CHECK(outcome.end.exit_code == 70);
  CHECK(outcome.end.rank == 0);
}

TEST_CASE("a rank that is killed ends the group, with its code") {
  const auto outcome = run("[ $PMI_RANK = 1 ] && kill -KILL $$; " + meet + wait_for_ever, 3);
  CHECK(outcome.end.exit_code == 128 + 9);
  CHECK(outcome.end.rank == 1);
}

TEST_CASE("a rank that aborts ends the group at once, with the code that it says") {
  const auto outcome = run("[ $PMI_RANK = 2 ] && echo cmd=abort exitcode=76 >&$PMI_FD; " + wait_for_ever, 3);
  CHECK(outcome.end.exit_code == 76);
  CHECK(outcome.end.rank == 2);
  // MPI's own error numbers are no exit codes, and no signals.
  CHECK(run("echo cmd=abort exitcode=406441615 >&$PMI_FD; " + wait_for_ever, 1).end.exit_code == 70);
}

TEST_CASE("the first rank that ends badly gives the group its code") {
  CHECK(run("sleep 0.$PMI_RANK; exit $((40 + PMI_RANK))", 3).end.exit_code == 40);
}
