// Tests of RankGroup. The programs of the ranks are shell scripts that send the PMI-1 requests of each test.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/processes.hpp"
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
  // The exitcode of an abort may be an error number of MPI, which is not an exit code. The group then exits with 70.
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

namespace {

long open_files() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

/// Starts 2 ranks in a process whose user may have 3 processes and threads, so that this process cannot start threads.
/// Returns 0 if that throws Error and leaves neither processes nor files; 77 if the user cannot be changed.
int start_at_process_limit(RankGroup::Start start) {
  constexpr uid_t user = 3'141'592;  // a user without other processes
  if (setgid(user) != 0 || setuid(user) != 0) return 77;
  const rlimit limit{3, 3};
  setrlimit(RLIMIT_NPROC, &limit);
  const auto files = open_files();
  try {
    const RankGroup group({"/bin/sleep", "1000"}, 2, {}, {}, start);
    return 1;
  } catch (const Error&) {
    if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return 2;
    return open_files() == files ? 0 : 3;
  }
}

int exit_code_of_child(int (*function)(RankGroup::Start), RankGroup::Start start) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    _exit(function(start));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a group that cannot start its threads throws Error, and leaves no processes and files") {
  for (const auto start : {RankGroup::Start::at_once, RankGroup::Start::as_standby}) {
    const int code = exit_code_of_child(start_at_process_limit, start);
    if (code == 77) {
      WARN("skipped: only root can start a process of another user");
      return;
    }
    CHECK(code == 0);
  }
}

namespace {

/// Attaches to `rank` as a debugger, which keeps its parent from collecting it after it was killed. Returns the process of
/// the debugger; -1 if it may not attach.
pid_t debug(pid_t rank) {
  std::array<int, 2> ready{};
  REQUIRE(pipe(ready.data()) == 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    if (ptrace(PTRACE_SEIZE, rank, nullptr, nullptr) != 0) _exit(1);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(0);
  }
  close(ready[1]);
  char byte = 0;
  const bool is_attached = read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  if (is_attached) return tracer;
  waitpid(tracer, nullptr, 0);
  return -1;
}

}  // namespace

TEST_CASE("the end of a standby waits at most about 1 s for a process that does not end") {
  auto group = std::make_unique<RankGroup>(std::vector<std::string>{"/bin/sleep", "1000"}, 1, GroupLimits{}, GroupInput{},
                                           RankGroup::Start::as_standby);
  const auto children = with_descendants(getpid());
  REQUIRE(children.size() == 2);
  const pid_t tracer = debug(children[1]);
  if (tracer < 0) {
    WARN("skipped: this process may not debug its children");
    return;
  }
  std::atomic<bool> has_ended = false;
  std::thread limit([&] {  // ends the debugger after 4 s, so that the test cannot wait forever
    for (int turn = 0; turn < 400 && !has_ended; ++turn) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(tracer, SIGKILL);
  });
  const double began = monotonic_seconds();
  group.reset();
  const double seconds = monotonic_seconds() - began;
  has_ended = true;
  limit.join();
  waitpid(tracer, nullptr, 0);
  waitpid(children[1], nullptr, 0);
  CHECK(seconds >= 0.9);
  CHECK(seconds < 3);
}
