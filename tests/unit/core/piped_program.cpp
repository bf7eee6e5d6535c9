// Tests of PipedProgram: sending to and reading from a running program.
#include "core/process/piped_program.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;

namespace {

const Variables variables = {{"PATH", "/usr/bin:/bin"}, {"GREETING", "hello"}};

/// Returns all output of the program, which must end within ten seconds.
PipedProgram::Received all_of(PipedProgram& program) {
  PipedProgram::Received all;
  for (int tries = 0; tries < 1000; ++tries) {
    const auto heard = program.exchange(std::chrono::milliseconds(10), -1);
    all.output += heard.output;
    all.errors += heard.errors;
    if (program.exit_code() && heard.output.empty() && heard.errors.empty()) return all;
  }
  FAIL("the program does not end");
  return all;
}

}  // namespace

TEST_CASE("a piped program receives its input, and both its streams are read") {
  PipedProgram program("cat; echo \"$GREETING\" >&2; exit 7", variables);
  program.send("one\n");
  program.send("two\n");
  program.end_input();
  const auto heard = all_of(program);
  CHECK(heard.output == "one\ntwo\n");
  CHECK(heard.errors == "hello\n");
  CHECK(program.exit_code() == 7);
}

TEST_CASE("sending to a program that reads nothing does not block, and unread() counts the bytes") {
  PipedProgram program("sleep 60", variables);
  const std::string much(std::size_t{1} << 20, 'x');
  program.send(much);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) program.exchange(std::chrono::milliseconds(1), -1);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
  CHECK(program.unread() == much.size());
  CHECK(!program.exit_code());
}

TEST_CASE("a program may close its input while bytes are unsent") {
  PipedProgram program("exec 0<&-; sleep 0.2; exit 3", variables);
  program.send(std::string(std::size_t{1} << 20, 'x'));
  all_of(program);
  CHECK(program.exit_code() == 3);
}

TEST_CASE("the exit code of a killed program is 128 plus the signal, and its children are killed") {
  PipedProgram killed("kill -9 $$", variables);
  all_of(killed);
  CHECK(killed.exit_code() == 128 + 9);
  int child = 0;
  {
    PipedProgram parent("sleep 60 & echo $!; wait", variables);
    std::string output;
    for (int tries = 0; tries < 500 && output.find('\n') == std::string::npos; ++tries)
      output += parent.exchange(std::chrono::milliseconds(10), -1).output;
    child = std::stoi(output);
    REQUIRE(kill(child, 0) == 0);
  }
  const auto is_running = [&] {  // false for a zombie
    const auto path = "/proc/" + std::to_string(child) + "/cmdline";
    FILE* file = fopen(path.c_str(), "r");
    const bool lives = file != nullptr && fgetc(file) != EOF;
    if (file != nullptr) fclose(file);
    return lives;
  };
  for (int tries = 0; tries < 500 && is_running(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(is_running());
}
