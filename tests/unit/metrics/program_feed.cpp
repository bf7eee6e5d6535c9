// What a program is fed, whatever it does: it hangs, dies, writes garbage, or is slow.
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

ProgramFeed::Line line(std::int64_t report) { return {report, fmt::format("{}\n", report)}; }

std::vector<ProgramFeed::Line> lines(std::int64_t from, std::int64_t to) {
  std::vector<ProgramFeed::Line> all;
  for (auto report = from; report <= to; ++report) all.push_back(line(report));
  return all;
}

/// What the feed has noted; "kept/dropped".
struct Place {
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
  for (int looks = 0; looks < 1000; ++looks) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a program gets its greeting, what was before, each report and the end, and they count as kept") {
  Place place;
  ProgramFeed feed(place.setup("cat > got"), lines(1, 3));
  feed.add(line(4));
  feed.end("end\n");
  CHECK(place.got() == "after 0\n1\n2\n3\n4\nend\n");
  CHECK(place.note() == "4/0");
}

TEST_CASE("a program that has kept reports gets those after them, and reports that are made again not twice") {
  Place place;
  auto setup = place.setup("cat > got");
  setup.kept = 2;
  ProgramFeed feed(std::move(setup), lines(1, 3));
  feed.add(line(2));
  feed.add(line(4));
  feed.end("end\n");
  CHECK(place.got() == "after 2\n3\n4\nend\n");
}

TEST_CASE("a program that dies is started again, and told where it was") {
  Place place;
  // It answers up to 2, reads 3, and dies; the second start takes the rest.
  ProgramFeed feed(place.setup("if [ -e first ]; then cat > got; else touch first; echo 0; read a; read a; read a; echo 2; "
                               "read a; exit 1; fi"),
                   lines(1, 4));
  CHECK(comes_true([&] { return place.got().find("4\n") != std::string::npos; }));
  feed.end("end\n");
  CHECK(place.got() == "after 2\n3\n4\nend\n");
}

TEST_CASE("a program that hangs costs add() nothing; what does not fit into its queue is dropped and counted") {
  Place place;
  auto setup = place.setup("sleep 600");
  setup.queue = 10;
  setup.wait_s = 0.3;
  ProgramFeed feed(std::move(setup), {});
  const std::string long_text(1000, 'x');
  double longest = 0;
  for (std::int64_t report = 1; report <= 5000; ++report) {
    const auto began = monotonic_seconds();
    feed.add({report, long_text});
    longest = std::max(longest, monotonic_seconds() - began);
  }
  CHECK(longest < 1);  // no unit test measures less; see bench_see
  const auto began = monotonic_seconds();
  feed.end("end\n");
  CHECK(monotonic_seconds() - began < 5);
  CHECK(place.note() == "0/4990");
}

TEST_CASE("garbage on its output is no answer, and its errors are in the log") {
  Place place;
  // Without digits: random bytes hold a line that is a number now and then.
  ProgramFeed feed(place.setup("head -c 100000 /dev/urandom | tr -d 0-9; echo; echo -5; echo 3x; echo oops >&2; cat > got"),
                   lines(1, 2));
  feed.end("end\n");
  CHECK(place.got() == "after 0\n1\n2\nend\n");
  CHECK(place.note() == "2/0");
  CHECK(read(place.dir / "log").find("oops\n") != std::string::npos);
}

TEST_CASE("what it writes to its errors is kept up to a limit") {
  Place place;
  ProgramFeed feed(place.setup("head -c 5000000 /dev/zero | tr '\\0' e >&2; cat > got"), lines(1, 1));
  feed.end("end\n");
  CHECK(read(place.dir / "log").size() < 1'200'000);
  CHECK(place.got() == "after 0\n1\nend\n");
}

TEST_CASE("a program that says that it is of no use is not started again") {
  Place place;
  ProgramFeed feed(place.setup("echo start >> starts; exit 64"), lines(1, 2));
  CHECK(comes_true([&] { return !read(place.dir / "starts").empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto began = monotonic_seconds();
  feed.end("end\n");
  CHECK(monotonic_seconds() - began < 5);
  CHECK(read(place.dir / "starts") == "start\n");
}
