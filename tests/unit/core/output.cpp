#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/output/output_capture.hpp"
#include "core/output/output_file.hpp"
#include "core/output/output_tail.hpp"
#include "core/output/output_targets.hpp"
#include "core/output/output_tee.hpp"
#include "core/output/prefixed_lines.hpp"
#include "core/output/redirect_streams.hpp"
#include "core/output/standard_streams.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using trainrt::test::Scratch;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(int fd, std::string_view text) {
  REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// A terminal's place.
struct Shown {
  std::string path;
  int fd = -1;
  explicit Shown(const std::string& name) : path(name), fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {}
  ~Shown() { close(fd); }
  Shown(const Shown&) = delete;
};

/// Files of this process may not grow beyond so many bytes, until it is lifted.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    lift();
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  void lift() const { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("the end of an output is kept in bounded memory, with lines as a terminal shows them at last") {
  OutputTail tail;
  for (int i = 0; i < 100'000; ++i) tail.add("line " + std::to_string(i) + "\n");
  CHECK(tail.text().size() <= OutputTail::most_bytes);
  CHECK_THAT(tail.text(), EndsWith("line 99998\nline 99999\n"));
  tail.add(std::string(1 << 20, 'x'));
  CHECK(tail.text() == std::string(OutputTail::most_bytes, 'x'));
  OutputTail bar;
  bar.add("start\r\n 10 %\r 20");
  bar.add(" %\r100 %\nend");
  CHECK(bar.text() == "start\n100 %\nend");
}

TEST_CASE("the last lines of a text are so many at most, and so many bytes") {
  CHECK(last_lines("a\nb\nc\n", 2, 100) == "b\nc");
  CHECK(last_lines("a\nb\nc", 9, 100) == "a\nb\nc");
  CHECK(last_lines("a\n\nc\n\n", 2, 100) == "\nc");
  CHECK(last_lines("", 2, 100).empty());
  CHECK(last_lines("\n\n", 2, 100).empty());
  CHECK(last_lines("0123456789", 2, 4) == "...6789");
}

TEST_CASE("lines stand whole behind their prefix, and a progress bar shows a state from time to time") {
  std::vector<std::string> lines;
  OutputLines output("[3] ", [&](std::string_view line) { lines.emplace_back(line); });
  output.add("a\nb", 10);
  output.add("c\r\n\nlong ", 10);
  output.add(std::string(OutputLines::most_bytes, 'x') + "\n", 10);
  CHECK(lines == std::vector<std::string>{"[3] a\n", "[3] bc\n", "[3] \n",
                                          "[3] long " + std::string(OutputLines::most_bytes - 5, 'x') + "\n",
                                          "[3] xxxxx\n"});
  lines.clear();
  output.add("\r 1 %\r 2 %", 20);  // the first is shown at once
  output.add("\r 3 %", 21);
  output.add("\r 4 %\r 5 %", 26);
  output.add("\r99 %", 27);
  output.finish();
  CHECK(lines == std::vector<std::string>{"[3]  1 %\n", "[3]  3 %\n", "[3] 99 %\n"});
}

TEST_CASE("a log is appended to, with a line for each start, and storage that fails stops nobody") {
  const Scratch scratch;
  const auto path = scratch / "rank.log";
  {
    OutputLog log(path);
    log.begin("attempt 1, rank 3 on n2, process 7");
    log.add("cut in the mid");
  }
  {
    OutputLog log(path);
    log.begin("attempt 2, rank 3 on n2, process 8");
    log.add("end\n");
  }
  std::istringstream text(content_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[0], Contains("==== 20") && EndsWith("Z attempt 1, rank 3 on n2, process 7 ===="));
  CHECK(lines[1] == "cut in the mid");
  CHECK_THAT(lines[2], EndsWith("attempt 2, rank 3 on n2, process 8 ===="));
  CHECK(lines[3] == "end");
  OutputLog full("/dev/full");
  full.begin("x");
  full.add("y");
  OutputLog nowhere(scratch / "no/such/folder");
  nowhere.begin("x");
  std::filesystem::create_symlink(path, std::string(scratch / "link"));
  OutputLog link(scratch / "link");
  link.add("through a link");
  CHECK_THAT(content_of(path), !Contains("through a link"));
}

TEST_CASE("a log that finds no room says later how much of the output it lacks, and its title is none of it") {
  const Scratch scratch;
  const auto path = scratch / "rank.log";
  const FileSizeLimit limit(8);
  OutputLog log(path);
  log.begin("attempt 1");
  log.add("lost");
  log.begin("attempt 2");
  log.add("lost too");
  limit.lift();
  log.add("kept");
  const auto text = content_of(path);
  CHECK_THAT(text, Contains(" attempt 2 ====\n\n==== 12 bytes are missing here ====\n") && EndsWith("\nkept"));
}

TEST_CASE("a log whose place is not known yet holds back what it gets, and leads on to others") {
  const Scratch scratch;
  OutputLog log("");
  log.hold();
  log.begin("not written");
  log.add("early ");
  CHECK_FALSE(log.is_full());
  log.add("words\n");
  log.lead_to(scratch / "first.log", "attempt 1");
  log.add("late\n");
  CHECK_THAT(content_of(scratch / "first.log"),
             EndsWith("Z attempt 1 ====\nearly words\nlate\n") && !Contains("not written"));
  log.lead_to(scratch / "second.log", "attempt 1");
  log.add("other\n");
  CHECK_THAT(content_of(scratch / "second.log"), EndsWith("Z attempt 1 ====\nother\n"));
  CHECK_THAT(content_of(scratch / "first.log"), EndsWith("late\n"));
  OutputLog full("");
  full.hold();
  full.add(std::string(OutputLog::most_held_bytes, 'x'));
  CHECK(full.is_full());
  full.lead_to(scratch / "third.log", "t");
  CHECK_FALSE(full.is_full());
}

TEST_CASE("a reader that may not hold back more waits until it knows the log") {
  const Scratch scratch;
  OutputPlan plan{.log = "", .holds_log = true, .terminal = OutputPlan::Terminal::nothing};
  OutputReader reader(plan);
  const int end = reader.output_end();
  reader.begin("", OutputReader::Writer::this_process);
  const std::string line(1023, 'y');
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i)
      if (write(end, (line + "\n").data(), 1024) != 1024) return;
  });
  while (!reader.is_full()) std::this_thread::yield();
  reader.lead_to(scratch / "rank.log", "attempt 1");
  writer.join();
  CHECK(reader.settle(10));
  const auto text = content_of(scratch / "rank.log");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3001);
}

TEST_CASE("what is shown is chosen by rank") {
  using Terminal = OutputPlan::Terminal;
  CHECK(output_plan(ShownOutput::first_rank, "/run", 0).terminal == Terminal::bytes);
  CHECK(output_plan(ShownOutput::first_rank, "/run", 3).terminal == Terminal::nothing);
  CHECK(output_plan(ShownOutput::none, "/run", 0).terminal == Terminal::nothing);
  const auto third = output_plan(ShownOutput::all_ranks, "/run", 3);
  CHECK((third.terminal == Terminal::lines && third.prefix == "[3] " && third.log == "/run/logs/rank-00003.log"));
}

TEST_CASE("an output is read whole, from one pipe in order, or from two to where each is shown") {
  const Scratch scratch;
  const Shown out(scratch / "out");
  const Shown error(scratch / "error");
  OutputPlan plan{.log = scratch / "log", .terminal = OutputPlan::Terminal::bytes, .out = out.fd, .error = error.fd};
  {
    OutputReader reader(plan);
    CHECK(reader.output_end() != reader.error_end());
    reader.begin("x", OutputReader::Writer::this_process);
    put(reader.output_end(), "to out\r");
    put(reader.error_end(), "to error\n");
    CHECK_THAT(reader.tail(), Contains("to error\n"));
    CHECK(reader.bytes_read() == 16);
    CHECK(content_of(error.path) == "to error\n");
  }
  CHECK(content_of(out.path) == "to out\r");
  CHECK_THAT(content_of(scratch / "log"), Contains("to out\r") && Contains("to error\n"));
  plan.error = out.fd;
  OutputReader reader(plan);
  CHECK(reader.output_end() == reader.error_end());
}

TEST_CASE("lines of a rank that failed follow its error as a terminal can take them") {
  std::string output = "first\n";
  for (int i = 0; i < 30; ++i) output += "line " + std::to_string(i) + "\n";
  const auto lines = printable_end(output + "\x1b[31mred");
  CHECK_THAT(lines, StartsWith("line 11\n") && EndsWith("\nline 29\n\\x1b[31mred"));
  CHECK(lines_in_words(3, lines) == "\nits last lines (logs/rank-00003.log has all):\n" + lines);
  CHECK(lines_in_words(3, "").empty());
  CHECK(printable_end(std::string(100'000, 'x')) == "..." + std::string(8192, 'x'));
}

namespace {

/// This process's standard streams lead into files meanwhile.
class StreamsInFiles {
 public:
  explicit StreamsInFiles(const Scratch& scratch)
      : out(scratch / "out"), error(scratch / "error"), before_{dup(STDOUT_FILENO), dup(STDERR_FILENO)} {
    std::fflush(stdout);
    dup2(out.fd, STDOUT_FILENO);
    dup2(error.fd, STDERR_FILENO);
  }
  ~StreamsInFiles() {
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
      dup2(before_.at(static_cast<std::size_t>(number - 1)), number);
      close(before_.at(static_cast<std::size_t>(number - 1)));
    }
    keep_standard_streams();
  }
  StreamsInFiles(const StreamsInFiles&) = delete;
  Shown out;
  Shown error;

 private:
  std::array<int, 2> before_;
};

/// In every way.
void print_words() {
  std::printf("printf\n");
  std::cout << "cout\n" << std::flush;
  put(STDOUT_FILENO, "write\n");
  std::cerr << "cerr\n";
}

}  // namespace

TEST_CASE("while the streams lead to a file, all that is said goes to its end; then it goes where it went before") {
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  for (const auto* word : {"first\n", "second\n"}) {
    OwnOutput::say(OwnOutput::Stream::error, "outside\n");
    const StreamsInFile file(scratch / "log");
    print_words();
    OwnOutput::say(OwnOutput::Stream::error, word);
  }
  put(STDERR_FILENO, "outside\n");
  CHECK(content_of(scratch / "log") == "printf\ncout\nwrite\ncerr\nfirst\nprintf\ncout\nwrite\ncerr\nsecond\n");
  CHECK(content_of(scratch / "error") == "outside\noutside\noutside\n");
  CHECK(content_of(scratch / "out").empty());
  CHECK_THROWS_WITH(StreamsInFile(scratch / "none/log"), Contains("none/log' cannot be opened: No such file"));
}

TEST_CASE("what this process prints is shown between the runtime's words and kept in the log, which these do not enter") {
  using Stream = OwnOutput::Stream;
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  for (const int attempt : {1, 2}) {  // the second keeps the numbers of the first
    const auto title = "attempt " + std::to_string(attempt);
    {
      const OwnOutput output({.log = scratch / "log", .terminal = OutputPlan::Terminal::bytes}, title);
      CHECK(std::filesystem::exists(scratch / "log") == (attempt == 2));
      print_words();
      OwnOutput::say(Stream::output, "the runtime\n");
      OwnOutput::say(Stream::error, "an error\n");
      std::printf("the end");
      OwnOutput::flush();
      CHECK(OwnOutput::last().lines.ends_with("\nthe end"));
      CHECK(OwnOutput::last().is_shown);
      std::array<char, 64> room{};
      CHECK(OwnOutput::last_in_handler(room).lines.ends_with("\nthe end"));
    }
    CHECK(OwnOutput::last().lines.empty());
    CHECK(OwnOutput::last_in_handler({}).lines.empty());
    print_words();
    std::fflush(stdout);
    CHECK(content_of(streams.out.path) == "printf\ncout\nwrite\nthe runtime\nthe endprintf\ncout\nwrite\n");
    CHECK(content_of(streams.error.path) == "cerr\nan error\ncerr\n");
    for (const auto& path : {streams.out.path, streams.error.path}) std::filesystem::resize_file(path, 0);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) lseek(fd, 0, SEEK_SET);
    auto log = content_of(scratch / "log");
    const auto of_errors = log.rfind("cerr\n");  // between any two lines: it comes by another pipe
    REQUIRE(of_errors != std::string::npos);
    log.erase(of_errors, std::strlen("cerr\n"));
    CHECK_THAT(log, Contains(title) && Contains("printf\ncout\nwrite\n") && EndsWith("the end"));
    CHECK_THAT(log, !Contains("the runtime") && !Contains("an error"));
  }
}

TEST_CASE("a line that this process prints is in the log at once, and nothing is shown if the rank is hidden") {
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  {
    const OwnOutput output({.log = scratch / "log"}, "x");
    std::printf("a line\n");  // nobody flushes
    std::cerr << "\x1b[31mred\n";
    CHECK_FALSE(OwnOutput::last().is_shown);
    std::array<char, 64> room{};
    CHECK(OwnOutput::last_in_handler(room).lines == "a line\n?[31mred");
    OwnOutput::give_back_at_exit();
    std::printf("of whoever ends the process\n");
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith(" x ====\na line\n\x1b[31mred\n"));
  CHECK(content_of(streams.out.path) == "of whoever ends the process\n");
  CHECK(content_of(streams.error.path).empty());
}

TEST_CASE("a forked child prints to where this process does, and waits for nobody when it says something") {
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  {
    const OwnOutput output({.log = scratch / "log"}, "x");
    if (const auto child = fork(); child == 0) {
      put(STDOUT_FILENO, "of a child\n");
      OwnOutput::say(OwnOutput::Stream::error, "said by a child\n");
      _exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith(" x ====\nof a child\n"));
  CHECK(content_of(streams.error.path) == "said by a child\n");
}

TEST_CASE("who still has the other end of the pipe holds nobody up") {
  const Scratch scratch;
  int kept = -1;
  {
    OutputReader reader({.log = scratch / "log"});
    kept = dup(reader.output_end());
    put(kept, "before");
    reader.begin("x");
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith("\nbefore"));
  close(kept);
}

TEST_CASE("a terminal that nobody reads holds nobody up at the end") {
  const Scratch scratch;
  std::array<int, 2> terminal{};
  REQUIRE(pipe(terminal.data()) == 0);
  {
    OutputReader reader(
        {.log = scratch / "log", .terminal = OutputPlan::Terminal::bytes, .out = terminal[1], .error = terminal[1]});
    const int end = dup(reader.output_end());
    reader.begin("x");
    put(end, std::string(60'000, 'x'));
    CHECK(reader.tail().size() == 60'000);
    put(end, std::string(20'000, 'y'));
    close(end);
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith(std::string(20'000, 'y')));
  for (const int end : terminal) close(end);
}
