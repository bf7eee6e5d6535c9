// Tests of ProgramFeed with programs that hang, exit early, print garbage, or are slow.
#include "metrics/outputs/program_feed.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "unit/metrics/support.hpp"

using namespace trainrt;
using metrics::ProgramFeed;

namespace {

ProgramFeed::ReportLine line(std::int64_t report) { return {report, fmt::format("{}\n", report)}; }

std::vector<ProgramFeed::ReportLine> lines(std::int64_t from, std::int64_t to) {
  std::vector<ProgramFeed::ReportLine> all;
  for (auto report = from; report <= to; ++report) all.push_back(line(report));
  return all;
}

/// The files of a feed in a scratch directory. note() returns "KEPT/DROPPED".
struct FeedFiles {
  Scratch dir;
  ProgramFeed::Setup setup(const std::string& command) {
    return {.name = "sink.test",
            .command = "cd '" + dir.path() + "'; " + command,
            .environment = {{"PATH", "/usr/bin:/bin"}},
            .log = dir / "log",
            .greeting = [](std::int64_t kept) { return fmt::format("after {}\n", kept); },
            .note = [this](std::int64_t kept,
                           std::int64_t dropped) { write(dir / "note", fmt::format("{}/{}", kept, dropped)); }};
  }
  std::string got() const { return read(dir / "got"); }
  std::string note() const { return read(dir / "note"); }
};

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a program gets its greeting, the backlog, each report and the end, which all count as kept") {
  FeedFiles files;
  ProgramFeed feed(files.setup("cat > got"), lines(1, 3));
  feed.add(line(4));
  feed.end("end\n");
  CHECK(files.got() == "after 0\n1\n2\n3\n4\nend\n");
  CHECK(files.note() == "4/0");
}

TEST_CASE("a program gets only reports that it has not kept") {
  FeedFiles files;
  auto setup = files.setup("cat > got");
  setup.kept = 2;
  ProgramFeed feed(std::move(setup), lines(1, 3));
  feed.add(line(2));
  feed.add(line(4));
  feed.end("end\n");
  CHECK(files.got() == "after 2\n3\n4\nend\n");
}

TEST_CASE("a program that exits early is restarted after the reports that it has confirmed") {
  FeedFiles files;
  // The first process confirms report 2, reads report 3, and exits. The second one reads the other reports.
  ProgramFeed feed(files.setup("if [ -e first ]; then cat > got; else touch first; echo 0; read a; read a; read a; echo 2; "
                               "read a; exit 1; fi"),
                   lines(1, 4));
  CHECK(comes_true([&] { return files.got().find("4\n") != std::string::npos; }));
  feed.end("end\n");
  CHECK(files.got() == "after 2\n3\n4\nend\n");
}

TEST_CASE("lines that a program without confirmations has read just before it fails do not count as kept") {
  FeedFiles files;
  ProgramFeed feed(
      files.setup("if [ -e first ]; then cat > got; else touch first; read a; read a; echo 'a; b' >&2; exit 1; fi"),
      lines(1, 2));
  CHECK(comes_true([&] { return files.got().find("2\n") != std::string::npos; }));
  feed.end("end\n");
  CHECK(files.got() == "after 0\n1\n2\nend\n");
  CHECK(files.note() == "2/0");
}

TEST_CASE("add() does not wait for a program that hangs, and drops lines if the queue is full") {
  FeedFiles files;
  auto setup = files.setup("sleep 600");
  setup.queue = 10;
  setup.wait_s = 0.3;
  ProgramFeed feed(std::move(setup), {});
  const std::string long_text(1000, 'x');
  double max_add_s = 0;
  for (std::int64_t report = 1; report <= 5000; ++report) {
    const auto began = monotonic_seconds();
    feed.add({report, long_text});
    max_add_s = std::max(max_add_s, monotonic_seconds() - began);
  }
  CHECK(max_add_s < 1);  // bench_see measures it more precisely
  const auto began = monotonic_seconds();
  feed.end("end\n");
  CHECK(monotonic_seconds() - began < 5);
  CHECK(files.note() == "0/4990");
}

TEST_CASE("garbage on standard output confirms nothing, and standard error is logged") {
  FeedFiles files;
  // The program removes digits from its random output, because a line with a number would be a confirmation.
  ProgramFeed feed(files.setup("head -c 100000 /dev/urandom | tr -d 0-9; echo; echo -5; echo 3x; echo oops >&2; cat > got"),
                   lines(1, 2));
  feed.end("end\n");
  CHECK(files.got() == "after 0\n1\n2\nend\n");
  CHECK(files.note() == "2/0");
  CHECK(read(files.dir / "log").find("oops\n") != std::string::npos);
}

TEST_CASE("standard error is logged up to a limit") {
  FeedFiles files;
  ProgramFeed feed(files.setup("head -c 5000000 /dev/zero | tr '\\0' e >&2; cat > got"), lines(1, 1));
  feed.end("end\n");
  CHECK(read(files.dir / "log").size() < 1'200'000);
  CHECK(files.got() == "after 0\n1\nend\n");
}

TEST_CASE("a program that exits with 64 is not restarted") {
  FeedFiles files;
  ProgramFeed feed(files.setup("echo start >> starts; exit 64"), lines(1, 2));
  CHECK(comes_true([&] { return !read(files.dir / "starts").empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto began = monotonic_seconds();
  feed.end("end\n");
  CHECK(monotonic_seconds() - began < 5);
  CHECK(read(files.dir / "starts") == "start\n");
}
