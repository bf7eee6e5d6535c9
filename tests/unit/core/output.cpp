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

/// A file in place of a terminal.
struct Shown {
  std::string path;
  int fd = -1;
  explicit Shown(const std::string& name) : path(name), fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {}
  ~Shown() { close(fd); }
  Shown(const Shown&) = delete;
};

/// Limits the size of the files that this process writes, until lift() or the end of the object.
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

TEST_CASE("OutputTail keeps the end in bounded memory, and overwritten lines in their last state") {
  OutputTail tail;
  for (int i = 0; i < 100'000; ++i) tail.add("line " + std::to_string(i) + "\n");
  CHECK(tail.text().size() <= OutputTail::max_bytes);
  CHECK_THAT(tail.text(), EndsWith("line 99998\nline 99999\n"));
  tail.add(std::string(1 << 20, 'x'));
  CHECK(tail.text() == std::string(OutputTail::max_bytes, 'x'));
  OutputTail bar;
  bar.add("start\r\n 10 %\r 20");
  bar.add(" %\r100 %\nend");
  CHECK(bar.text() == "start\n100 %\nend");
}

TEST_CASE("last_lines limits the number of lines and of bytes") {
  CHECK(last_lines("a\nb\nc\n", 2, 100) == "b\nc");
  CHECK(last_lines("a\nb\nc", 9, 100) == "a\nb\nc");
  CHECK(last_lines("a\n\nc\n\n", 2, 100) == "\nc");
  CHECK(last_lines("", 2, 100).empty());
  CHECK(last_lines("\n\n", 2, 100).empty());
  CHECK(last_lines("0123456789", 2, 4) == "...6789");
}

TEST_CASE("each line follows its prefix, and a progress bar is shown every few seconds") {
  std::vector<std::string> lines;
  PrefixedLines output("[3] ", [&](std::string_view line) { lines.emplace_back(line); });
  output.add("a\nb", 10);
  output.add("c\r\n\nlong ", 10);
  output.add(std::string(PrefixedLines::max_bytes, 'x') + "\n", 10);
  CHECK(lines == std::vector<std::string>{"[3] a\n", "[3] bc\n", "[3] \n",
                                          "[3] long " + std::string(PrefixedLines::max_bytes - 5, 'x') + "\n",
                                          "[3] xxxxx\n"});
  lines.clear();
  output.add("\r 1 %\r 2 %", 20);  // the first state is shown at once
  output.add("\r 3 %", 21);
  output.add("\r 4 %\r 5 %", 26);
  output.add("\r99 %", 27);
  output.finish();
  CHECK(lines == std::vector<std::string>{"[3]  1 %\n", "[3]  3 %\n", "[3] 99 %\n"});
}

TEST_CASE("a log is appended to with a title per start, and failing storage is no error") {
  const Scratch scratch;
  const auto path = scratch / "rank.log";
  {
    OutputFile log(path);
    log.begin("attempt 1, rank 3 on n2, process 7");
    log.add("cut in the mid");
  }
  {
    OutputFile log(path);
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
  OutputFile full("/dev/full");
  full.begin("x");
  full.add("y");
  OutputFile nowhere(scratch / "no/such/folder");
  nowhere.begin("x");
  std::filesystem::create_symlink(path, std::string(scratch / "link"));
  OutputFile link(scratch / "link");
  link.add("through a link");
  CHECK_THAT(content_of(path), !Contains("through a link"));
}

TEST_CASE("a log without space later states the missing bytes, which exclude its title") {
  const Scratch scratch;
  const auto path = scratch / "rank.log";
  const FileSizeLimit limit(8);
  OutputFile log(path);
  log.begin("attempt 1");
  log.add("lost");
  log.begin("attempt 2");
  log.add("lost too");
  limit.lift();
  log.add("kept");
  const auto text = content_of(path);
  CHECK_THAT(text, Contains(" attempt 2 ====\n\n==== 12 bytes are missing here ====\n") && EndsWith("\nkept"));
}

TEST_CASE("a log holds its bytes until its path is known, and can switch to another file") {
  const Scratch scratch;
  OutputFile log("");
  log.hold();
  log.begin("not written");
  log.add("early ");
  CHECK_FALSE(log.is_full());
  log.add("words\n");
  log.switch_to(scratch / "first.log", "attempt 1");
  log.add("late\n");
  CHECK_THAT(content_of(scratch / "first.log"),
             EndsWith("Z attempt 1 ====\nearly words\nlate\n") && !Contains("not written"));
  log.switch_to(scratch / "second.log", "attempt 1");
  log.add("other\n");
  CHECK_THAT(content_of(scratch / "second.log"), EndsWith("Z attempt 1 ====\nother\n"));
  CHECK_THAT(content_of(scratch / "first.log"), EndsWith("late\n"));
  OutputFile full("");
  full.hold();
  full.add(std::string(OutputFile::max_held_bytes, 'x'));
  CHECK(full.is_full());
  full.switch_to(scratch / "third.log", "t");
  CHECK_FALSE(full.is_full());
}

TEST_CASE("a tee that holds its maximum stops reading until the log is known") {
  const Scratch scratch;
  OutputTargets plan{.log = "", .holds_log = true, .terminal = OutputTargets::Terminal::nothing};
  OutputTee reader(plan);
  const int end = reader.output_end();
  reader.begin("", OutputTee::Writer::this_process);
  const std::string line(1023, 'y');
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i)
      if (write(end, (line + "\n").data(), 1024) != 1024) return;
  });
  while (!reader.is_full()) std::this_thread::yield();
  reader.switch_file(scratch / "rank.log", "attempt 1");
  writer.join();
  CHECK(reader.drain(10));
  const auto text = content_of(scratch / "rank.log");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3001);
}

TEST_CASE("the terminal shows the output of the selected ranks") {
  using Terminal = OutputTargets::Terminal;
  CHECK(output_targets(ShownOutput::first_rank, "/run", 0).terminal == Terminal::bytes);
  CHECK(output_targets(ShownOutput::first_rank, "/run", 3).terminal == Terminal::nothing);
  CHECK(output_targets(ShownOutput::none, "/run", 0).terminal == Terminal::nothing);
  const auto third = output_targets(ShownOutput::all_ranks, "/run", 3);
  CHECK((third.terminal == Terminal::lines && third.prefix == "[3] " && third.log == "/run/logs/rank-00003.log"));
}

TEST_CASE("a tee reads all output, from one pipe in order or from two to their own targets") {
  const Scratch scratch;
  const Shown out(scratch / "out");
  const Shown error(scratch / "error");
  OutputTargets plan{.log = scratch / "log", .terminal = OutputTargets::Terminal::bytes, .out = out.fd, .error = error.fd};
  {
    OutputTee reader(plan);
    CHECK(reader.output_end() != reader.error_end());
    reader.begin("x", OutputTee::Writer::this_process);
    put(reader.output_end(), "to out\r");
    put(reader.error_end(), "to error\n");
    CHECK_THAT(reader.tail(), Contains("to error\n"));
    CHECK(reader.bytes_read() == 16);
    CHECK(content_of(error.path) == "to error\n");
  }
  CHECK(content_of(out.path) == "to out\r");
  CHECK_THAT(content_of(scratch / "log"), Contains("to out\r") && Contains("to error\n"));
  plan.error = out.fd;
  OutputTee reader(plan);
  CHECK(reader.output_end() == reader.error_end());
}

TEST_CASE("the last lines of a failed rank follow its error with control characters escaped") {
  std::string output = "first\n";
  for (int i = 0; i < 30; ++i) output += "line " + std::to_string(i) + "\n";
  const auto lines = printable_end(output + "\x1b[31mred");
  CHECK_THAT(lines, StartsWith("line 11\n") && EndsWith("\nline 29\n\\x1b[31mred"));
  CHECK(lines_in_words(3, lines) == "\nits last lines (logs/rank-00003.log has all):\n" + lines);
  CHECK(lines_in_words(3, "").empty());
  CHECK(printable_end(std::string(100'000, 'x')) == "..." + std::string(8192, 'x'));
}

namespace {

/// Redirects the standard streams of this process to files while this object lives.
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

/// Prints by printf, std::cout, write() and std::cerr.
void print_words() {
  std::printf("printf\n");
  std::cout << "cout\n" << std::flush;
  put(STDOUT_FILENO, "write\n");
  std::cerr << "cerr\n";
}

}  // namespace

TEST_CASE("RedirectedStreams appends all output to a file and then restores the streams") {
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  for (const auto* word : {"first\n", "second\n"}) {
    OutputCapture::write(OutputCapture::Stream::error, "outside\n");
    const RedirectedStreams file(scratch / "log");
    print_words();
    OutputCapture::write(OutputCapture::Stream::error, word);
  }
  put(STDERR_FILENO, "outside\n");
  CHECK(content_of(scratch / "log") == "printf\ncout\nwrite\ncerr\nfirst\nprintf\ncout\nwrite\ncerr\nsecond\n");
  CHECK(content_of(scratch / "error") == "outside\noutside\noutside\n");
  CHECK(content_of(scratch / "out").empty());
  CHECK_THROWS_WITH(RedirectedStreams(scratch / "none/log"), Contains("none/log' cannot be opened: No such file"));
}

TEST_CASE("captured output is shown in order with the runtime's messages, which the log excludes") {
  using Stream = OutputCapture::Stream;
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  for (const int attempt : {1, 2}) {  // the second attempt reuses the descriptors of the first
    const auto title = "attempt " + std::to_string(attempt);
    {
      const OutputCapture output({.log = scratch / "log", .terminal = OutputTargets::Terminal::bytes}, title);
      CHECK(std::filesystem::exists(scratch / "log") == (attempt == 2));
      print_words();
      OutputCapture::write(Stream::output, "the runtime\n");
      OutputCapture::write(Stream::error, "an error\n");
      std::printf("the end");
      OutputCapture::flush();
      CHECK(OutputCapture::last().lines.ends_with("\nthe end"));
      CHECK(OutputCapture::last().is_shown);
      std::array<char, 64> room{};
      CHECK(OutputCapture::last_in_handler(room).lines.ends_with("\nthe end"));
    }
    CHECK(OutputCapture::last().lines.empty());
    CHECK(OutputCapture::last_in_handler({}).lines.empty());
    print_words();
    std::fflush(stdout);
    CHECK(content_of(streams.out.path) == "printf\ncout\nwrite\nthe runtime\nthe endprintf\ncout\nwrite\n");
    CHECK(content_of(streams.error.path) == "cerr\nan error\ncerr\n");
    for (const auto& path : {streams.out.path, streams.error.path}) std::filesystem::resize_file(path, 0);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) lseek(fd, 0, SEEK_SET);
    auto log = content_of(scratch / "log");
    const auto of_errors = log.rfind("cerr\n");  // standard error has its own pipe, so its line may be at any position
    REQUIRE(of_errors != std::string::npos);
    log.erase(of_errors, std::strlen("cerr\n"));
    CHECK_THAT(log, Contains(title) && Contains("printf\ncout\nwrite\n") && EndsWith("the end"));
    CHECK_THAT(log, !Contains("the runtime") && !Contains("an error"));
  }
}

TEST_CASE("a printed line is in the log at once, and a hidden rank shows nothing") {
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  {
    const OutputCapture output({.log = scratch / "log"}, "x");
    std::printf("a line\n");  // without a flush
    std::cerr << "\x1b[31mred\n";
    CHECK_FALSE(OutputCapture::last().is_shown);
    std::array<char, 64> room{};
    CHECK(OutputCapture::last_in_handler(room).lines == "a line\n?[31mred");
    OutputCapture::restore_at_exit();
    std::printf("printed at the exit\n");
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith(" x ====\na line\n\x1b[31mred\n"));
  CHECK(content_of(streams.out.path) == "printed at the exit\n");
  CHECK(content_of(streams.error.path).empty());
}

TEST_CASE("a forked child prints to the same log, and its messages do not wait") {
  const Scratch scratch;
  const StreamsInFiles streams(scratch);
  {
    const OutputCapture output({.log = scratch / "log"}, "x");
    if (const auto child = fork(); child == 0) {
      put(STDOUT_FILENO, "of a child\n");
      OutputCapture::write(OutputCapture::Stream::error, "message of a child\n");
      _exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith(" x ====\nof a child\n"));
  CHECK(content_of(streams.error.path) == "message of a child\n");
}

TEST_CASE("an open write end in another process does not block the destructor of a tee") {
  const Scratch scratch;
  int kept = -1;
  {
    OutputTee reader({.log = scratch / "log"});
    kept = dup(reader.output_end());
    put(kept, "before");
    reader.begin("x");
  }
  CHECK_THAT(content_of(scratch / "log"), EndsWith("\nbefore"));
  close(kept);
}

TEST_CASE("a terminal without a reader does not block the destructor of a tee") {
  const Scratch scratch;
  std::array<int, 2> terminal{};
  REQUIRE(pipe(terminal.data()) == 0);
  {
    OutputTee reader(
        {.log = scratch / "log", .terminal = OutputTargets::Terminal::bytes, .out = terminal[1], .error = terminal[1]});
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
