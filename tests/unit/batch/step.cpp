#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <string>

#include <unistd.h>
#include <trainrt/error.hpp>

#include "batch/step.hpp"
#include "support/cpp/captured_errors.hpp"

using namespace trainrt::batch;

namespace {

/// Runs a shell script in place of srun.
StepEnd run(const std::string& script, SignalQueue& signals, bool needs_whole_allocation = false) {
  return run_step({"sh", "-c", script}, signals, needs_whole_allocation);
}

}  // namespace

TEST_CASE("a step runs until it exits, and its last output is read") {
  SignalQueue signals;
  CHECK(run("exit 75", signals).exit_code == 75);
  CHECK(run("kill -9 $$", signals).exit_code == 137);
  const auto end = run("printf 'srun: error: n2: task 1: Killed' >&2; exit 137", signals);
  CHECK(end.lines.dead().size() == 1);
  CHECK(end.signal == 0);
  CHECK_THROWS_AS(run_step({"/no/such/program"}, signals), trainrt::Error);
}

TEST_CASE("a signal that was ignored before the queue was created stays ignored") {
  sigset_t blocked;  // signals that queues of earlier tests have blocked
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  const auto before = std::signal(SIGUSR2, SIG_IGN);
  {
    SignalQueue signals;
    kill(getpid(), SIGUSR2);
    CHECK(signals.take() == 0);
    kill(getpid(), SIGUSR1);
    CHECK(signals.take() == SIGUSR1);
  }
  std::signal(SIGUSR2, before);
}

TEST_CASE("a step reads the given standard input") {
  SignalQueue signals;
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  REQUIRE(write(ends[1], "7", 1) == 1);
  close(ends[1]);
  CHECK(run_step({"sh", "-c", "read -r code; exit $code"}, signals, false, ends[0]).exit_code == 7);
  close(ends[0]);
}

TEST_CASE("the death of a task is noticed after a long progress bar without line breaks") {
  SignalQueue signals;
  for (const auto* end_of_bar : {"\r", ""}) {
    std::string bars;
    for (int step = 0; step < 1000; ++step) bars += "step " + std::to_string(step) + " of many |####      |" + end_of_bar;
    const trainrt::test::CapturedErrors errors;
    const auto end = run(std::string("end='") + end_of_bar + "'; i=0; while [ $i -lt 1000 ]; do " +
                             "printf 'step %d of many |####      |%s' $i \"$end\" >&2; i=$((i+1)); done; " +
                             "echo 'srun: error: n2: task 1: Killed' >&2; exit 137",
                         signals);
    CHECK(end.lines.dead().size() == 1);
    // The parentheses keep Catch2 from printing the long texts.
    CHECK((errors.text() == bars + "srun: error: n2: task 1: Killed\n"));
  }
}

TEST_CASE("the remaining tasks are ended some seconds after one has died") {
  SignalQueue signals;
  const auto end =
      run("echo 'srun: error: n2: task 1: Killed' >&2; trap 'exit 9' TERM; while :; do sleep 0.05; done", signals);
  CHECK(end.exit_code == 9);
}

TEST_CASE("a step does not wait for nodes that the allocation has lost") {
  SignalQueue signals;
  const std::string message =
      "echo 'srun: error: X environment variable conflicts with allocated node count (3 != 2).' >&2; ";
  CHECK(run(message + "trap 'exit 9' TERM; while :; do sleep 0.05; done", signals, true).exit_code == 9);
  CHECK(run(message + "trap 'exit 9' TERM; sleep 4", signals).exit_code == 0);
}

TEST_CASE("stop signals before, during and after a step are not lost, and reach it as USR1") {
  SignalQueue signals;
  raise(SIGTERM);
  const auto end = run("trap 'exit 75' USR1; trap 'exit 1' TERM; while :; do sleep 0.05; done", signals);
  CHECK((end.exit_code == 75 || end.exit_code == 138));  // 138: the signal came before the shell installed its trap
  CHECK(end.signal == SIGTERM);
  CHECK(signals.wait(0.01) == 0);
  raise(SIGUSR2);
  CHECK(signals.wait(5) == SIGUSR2);
}
