// A program that is fed and heard while it runs, without waiting for it.
#include "core/process/line_program.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;

namespace {

const Variables variables = {{"PATH", "/usr/bin:/bin"}, {"GREETING", "hello"}};

/// Exchanges until it has ended, for ten seconds at most.
LineProgram::Heard all_of(LineProgram& program) {
  LineProgram::Heard all;
  for (int looks = 0; looks < 1000; ++looks) {
    const auto heard = program.exchange(std::chrono::milliseconds(10), -1);
    all.output += heard.output;
    all.errors += heard.errors;
    if (program.exit_code() && heard.output.empty() && heard.errors.empty()) return all;
  }
  FAIL("it does not end");
  return all;
}

}  // namespace

TEST_CASE("a program gets what is sent, and both its streams are heard") {
  LineProgram program("cat; echo \"$GREETING\" >&2; exit 7", variables);
  program.send("one\n");
  program.send("two\n");
  program.end_input();
  const auto heard = all_of(program);
  CHECK(heard.output == "one\ntwo\n");
  CHECK(heard.errors == "hello\n");
  CHECK(program.exit_code() == 7);
}

TEST_CASE("a program that reads nothing costs no wait, and what it has not read is known") {
  LineProgram program("sleep 60", variables);
  const std::string much(std::size_t{1} << 20, 'x');
  program.send(much);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) program.exchange(std::chrono::milliseconds(1), -1);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
  CHECK(program.unread() == much.size());
  CHECK(!program.exit_code());
}

TEST_CASE("a program that has closed its input while much is unsent does no harm") {
  LineProgram program("exec 0<&-; sleep 0.2; exit 3", variables);
  program.send(std::string(std::size_t{1} << 20, 'x'));
  all_of(program);
  CHECK(program.exit_code() == 3);
}

TEST_CASE("a signal that ends it is told as a shell does, and what it has started ends with it") {
  LineProgram killed("kill -9 $$", variables);
  all_of(killed);
  CHECK(killed.exit_code() == 128 + 9);
  int child = 0;
  {
    LineProgram parent("sleep 60 & echo $!; wait", variables);
    std::string said;
    for (int looks = 0; looks < 500 && said.find('\n') == std::string::npos; ++looks)
      said += parent.exchange(std::chrono::milliseconds(10), -1).output;
    child = std::stoi(said);
    REQUIRE(kill(child, 0) == 0);
  }
  const auto is_there = [&] {  // a zombie is not
    const auto path = "/proc/" + std::to_string(child) + "/cmdline";
    FILE* file = fopen(path.c_str(), "r");
    const bool lives = file != nullptr && fgetc(file) != EOF;
    if (file != nullptr) fclose(file);
    return lives;
  };
  for (int looks = 0; looks < 500 && is_there(); ++looks) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(is_there());
}
