#include <catch2/catch.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <system_error>

#include <unistd.h>
#include <trainrt/error.hpp>

#include "batch/step.hpp"

using namespace trainrt::batch;

namespace {

/// Takes this process's standard error while it lives.
class TakenErrors {
 public:
  TakenErrors() : taken_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    if (taken_ == nullptr || before_ < 0 || dup2(fileno(taken_), STDERR_FILENO) < 0)
      throw std::system_error(errno, std::generic_category(), "standard error cannot be taken");
  }
  ~TakenErrors() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(taken_);
  }
  TakenErrors(const TakenErrors&) = delete;
  TakenErrors& operator=(const TakenErrors&) = delete;

  std::string text() const {
    std::string all;
    std::rewind(taken_);
    for (int c = std::fgetc(taken_); c != EOF; c = std::fgetc(taken_)) all += static_cast<char>(c);
    return all;
  }

 private:
  std::FILE* taken_;
  int before_;
};

/// A shell in the place of srun.
StepEnd run(const std::string& script, SignalQueue& signals, bool needs_whole_allocation = false) {
  return run_step({"sh", "-c", script}, signals, needs_whole_allocation);
}

}  // namespace

TEST_CASE("a step is run to its end, and what it wrote last is read") {
  SignalQueue signals;
  CHECK(run("exit 75", signals).exit_code == 75);
  CHECK(run("kill -9 $$", signals).exit_code == 137);
  const auto end = run("printf 'srun: error: n2: task 1: Killed' >&2; exit 137", signals);
  CHECK(end.lines.dead().size() == 1);
  CHECK(end.signal == 0);
  CHECK_THROWS_AS(run_step({"/no/such/program"}, signals), trainrt::Error);
}

TEST_CASE("a queue leaves signals that were ignored before to be ignored") {
  sigset_t blocked;  // by earlier queues
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

TEST_CASE("a step has the input that it is given") {
  SignalQueue signals;
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  REQUIRE(write(ends[1], "7", 1) == 1);
  close(ends[1]);
  CHECK(run_step({"sh", "-c", "read -r code; exit $code"}, signals, false, ends[0]).exit_code == 7);
  close(ends[0]);
}

TEST_CASE("a task's death is seen behind a progress bar, however long that goes on without the end of a line") {
  SignalQueue signals;
  for (const auto* end_of_bar : {"\r", ""}) {
    std::string bars;
    for (int step = 0; step < 1000; ++step) bars += "step " + std::to_string(step) + " of many |####      |" + end_of_bar;
    const TakenErrors errors;
    const auto end = run(std::string("end='") + end_of_bar + "'; i=0; while [ $i -lt 1000 ]; do " +
                             "printf 'step %d of many |####      |%s' $i \"$end\" >&2; i=$((i+1)); done; " +
                             "echo 'srun: error: n2: task 1: Killed' >&2; exit 137",
                         signals);
    CHECK(end.lines.dead().size() == 1);
    CHECK((errors.text() == bars + "srun: error: n2: task 1: Killed\n"));  // too long to be shown
  }
}

TEST_CASE("the tasks that are left are ended some seconds after one has died") {
  SignalQueue signals;
  const auto end =
      run("echo 'srun: error: n2: task 1: Killed' >&2; trap 'exit 9' TERM; while :; do sleep 0.05; done", signals);
  CHECK(end.exit_code == 9);
}

TEST_CASE("a step does not wait for nodes that the allocation has no more") {
  SignalQueue signals;
  const std::string says = "echo 'srun: error: X environment variable conflicts with allocated node count (3 != 2).' >&2; ";
  CHECK(run(says + "trap 'exit 9' TERM; while :; do sleep 0.05; done", signals, true).exit_code == 9);
  CHECK(run(says + "trap 'exit 9' TERM; sleep 4", signals).exit_code == 0);
}

TEST_CASE("stop signals reach the step as USR1, also those that come before it begins, and are not lost after it") {
  SignalQueue signals;
  raise(SIGTERM);
  const auto end = run("trap 'exit 75' USR1; trap 'exit 1' TERM; while :; do sleep 0.05; done", signals);
  CHECK((end.exit_code == 75 || end.exit_code == 138));  // 138: it came before the shell had its trap
  CHECK(end.signal == SIGTERM);
  CHECK(signals.wait(0.01) == 0);
  raise(SIGUSR2);
  CHECK(signals.wait(5) == SIGUSR2);
}
