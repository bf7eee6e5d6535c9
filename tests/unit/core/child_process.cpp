#include "core/process/child_process.hpp"

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/host.hpp"

using trainrt::run_child;

TEST_CASE("run_child returns the output and the exit code of a program") {
  const auto output = run_child({"sh", "-c", "echo one; echo unseen >&2; echo two; exit 3"}, 20);
  REQUIRE(output);
  CHECK(output->exit_code == 3);
  CHECK(output->text == "one\ntwo\n");
  CHECK(run_child({"sh", "-c", "kill -9 $$"}, 20)->exit_code == 128 + SIGKILL);
}

TEST_CASE("standard error is in the output if it is requested") {
  const auto output = run_child({"sh", "-c", "echo one; echo two >&2; echo three"}, 20, trainrt::ChildErrors::with_output);
  REQUIRE(output);
  CHECK(output->text == "one\ntwo\nthree\n");
}

TEST_CASE("a missing program has exit code 127 and the reason as its text") {
  const auto output = run_child({"/no/such/program"}, 5);
  REQUIRE(output);
  CHECK(output->exit_code == 127);
  CHECK(output->text == "No such file or directory");
}

TEST_CASE("a program that exceeds its time limit is killed with its children") {
  const auto start = trainrt::monotonic_seconds();
  CHECK_FALSE(run_child({"sh", "-c", "sleep 1000 & sleep 1000"}, 0.2));
  CHECK(trainrt::monotonic_seconds() - start < 20);
}

TEST_CASE("a cancelled run_child returns before its time limit") {
  std::atomic<bool> cancelled = false;
  std::thread canceller([&] {
    usleep(100'000);
    cancelled = true;
  });
  CHECK_FALSE(run_child({"sleep", "1000"}, 1000, cancelled));
  canceller.join();
}

TEST_CASE("a program inherits no open file of this process") {
  const int file = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  const auto output = run_child({"sh", "-c", "ls /proc/self/fd | wc -l"}, 20);
  close(file);
  REQUIRE(output);
  CHECK(std::stoi(output->text) <= 4);  // 0, 1, 2 and the directory that ls reads
}
