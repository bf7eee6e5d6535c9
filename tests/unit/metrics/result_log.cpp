#include "metrics/result_log.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include <sys/resource.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "metrics/record_json.hpp"
#include "unit/metrics/support.hpp"

using namespace trainrt;
using namespace trainrt::metrics;
using Catch::Contains;

namespace {

Record record(std::int64_t iteration) {
  return {iteration,
          {{"loss", 1.0 / static_cast<double>(iteration)},
           {"note", std::string("a \"b\"\n")},
           {"_training_iteration", iteration}}};
}

void append_all(const Scratch& dir, std::int64_t from, std::int64_t to) {
  auto opened = ResultLog::open(dir.run(), from - 1);
  for (auto i = from; i <= to; ++i) opened.log.append(record(i));
  opened.log.sync();
}

bool same(const Record& a, const Record& b) { return a.iteration == b.iteration && a.values == b.values; }

void check_iterations(const std::vector<Record>& records, std::int64_t last) {
  REQUIRE(records.size() == static_cast<std::size_t>(last));
  for (std::int64_t i = 1; i <= last; ++i) REQUIRE(same(records[static_cast<std::size_t>(i - 1)], record(i)));
}

std::string test_error_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("doubles are read back bit for bit, and NaN is null") {
  Random random(3, 0);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = random.next_u64();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    const auto read = from_json(to_json({1, {{"x", number}}}));
    REQUIRE(read);
    const auto back = std::get<double>(*read->find("x"));
    if (std::isnan(number))
      REQUIRE(std::isnan(back));
    else
      REQUIRE(std::memcmp(&back, &number, sizeof number) == 0);
  }
}

TEST_CASE("each value is read back with its type") {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  const Record::Value values[] = {3.0,
                                  -0.0,
                                  1e300,
                                  5e-324,
                                  infinity,
                                  -infinity,
                                  std::int64_t{3},
                                  INT64_MAX,
                                  INT64_MIN,
                                  std::string("x,\"\n\t\x01"),
                                  std::string("\xc3\xa4"),
                                  std::string("Infinity"),
                                  std::string("-Infinity"),
                                  std::string(R"(\Infinity)"),
                                  std::string(R"(\\-Infinity)"),
                                  std::string(R"(\)"),
                                  std::string()};
  for (const auto& value : values) {
    const auto read = from_json(to_json({5, {{"x", value}}}));
    REQUIRE(read);
    CHECK(*read->find("x") == value);
    CHECK(read->iteration == 5);
  }
  const auto zero = from_json(to_json({5, {{"x", -0.0}}}));
  CHECK(std::signbit(std::get<double>(*zero->find("x"))));
  CHECK_THAT(to_json({5, {{"x", std::nan("")}}}), Contains("\"x\":null"));
  CHECK_THAT(to_json({5, {{"x", -infinity}}}), Contains(R"("x":"-Infinity")"));
  CHECK_THAT(to_json({5, {{"x", std::string("\xff")}}}), Contains("\xEF\xBF\xBD"));
}

TEST_CASE("a record is one line of JSON with its values in their order") {
  CHECK(to_json({2, {{"b", 0.5}, {"a", std::string("x\ny")}, {"_training_iteration", std::int64_t{2}}}}) ==
        R"({"b":0.5,"a":"x\ny","_training_iteration":2})");
  CHECK(to_json({2, {}}) == R"({"_training_iteration":2})");
}

TEST_CASE("a new run has an empty log, and an appended line can be read at once") {
  Scratch dir;
  CHECK(read_results(dir.path()).empty());
  auto opened = ResultLog::open(dir.run(), 0);
  CHECK(opened.history.empty());
  CHECK(read(dir / "result.json").empty());
  opened.log.append(record(1));
  opened.log.append(record(2));
  check_iterations(read_results(dir.path()), 2);
}

TEST_CASE("a log that was truncated after the records of the checkpoint can be opened") {
  Scratch dir;
  append_all(dir, 1, 5);
  const auto complete = read(dir / "result.json");
  const auto third_ends = complete.find("\"_training_iteration\":3}") + 24;
  for (auto length = third_ends; length <= complete.size(); ++length) {
    CAPTURE(length, complete.size());
    write(dir / "result.json", complete.substr(0, length));
    for (const auto& seen : read_results(dir.path())) REQUIRE(same(seen, record(seen.iteration)));

    auto opened = ResultLog::open(dir.run(), 3);
    check_iterations(opened.history, 3);
    check_iterations(read_results(dir.path()), 3);
    opened.log.append(record(4));
    check_iterations(read_results(dir.path()), 4);
    REQUIRE_FALSE(std::filesystem::exists(dir / "result.json.next"));
  }
}

TEST_CASE("a log that was truncated in the records of the checkpoint is an error that leaves it unchanged") {
  Scratch dir;
  append_all(dir, 1, 5);
  const auto complete = read(dir / "result.json");
  const auto third_ends = complete.find("\"_training_iteration\":3}") + 24;
  for (std::size_t length = 0; length < third_ends; ++length) {
    CAPTURE(length);
    const auto cut = complete.substr(0, length);
    write(dir / "result.json", cut);
    REQUIRE_THROWS_WITH(ResultLog::open(dir.run(), 3), Contains("to 3 are missing"));
    REQUIRE(read(dir / "result.json") == cut);
  }
  std::filesystem::remove(dir / "result.json");
  CHECK_THROWS_WITH(ResultLog::open(dir.run(), 3), Contains("1 to 3 are missing"));
  CHECK_THROWS_AS(ResultLog::open(dir.run(), 3), UsageError);
}

TEST_CASE("a missing, repeated or misplaced record is an error that names its iteration") {
  Scratch dir;
  const auto line = [](std::int64_t i) { return to_json(record(i)) + "\n"; };
  write(dir / "result.json", line(1) + line(3));
  CHECK_THROWS_WITH(ResultLog::open(dir.run(), 3), Contains("iteration 3") && Contains("instead of iteration 2"));
  write(dir / "result.json", line(1) + line(2) + line(2));
  CHECK_THROWS_WITH(ResultLog::open(dir.run(), 2), Contains("iteration 2") && Contains("instead of iteration 3"));
  write(dir / "result.json", line(2) + line(1));
  CHECK_THROWS_WITH(ResultLog::open(dir.run(), 2), Contains("iteration 2") && Contains("instead of iteration 1"));
}

TEST_CASE("records after the checkpoint and foreign lines are dropped, so that no step appears twice") {
  Scratch dir;
  append_all(dir, 1, 3);
  write(dir / "result.json", "\n[1]\n{\"x\": 1}\n" + read(dir / "result.json") + "{\"loss\"");
  auto opened = ResultLog::open(dir.run(), 2);
  check_iterations(opened.history, 2);
  opened.log.append(record(3));
  check_iterations(read_results(dir.path()), 3);
}

TEST_CASE("lines that an older attempt appends do not reach the log") {
  Scratch dir;
  auto old = ResultLog::open(dir.run(), 0);
  old.log.append(record(1));
  auto next = ResultLog::open(dir.run(), 1);
  old.log.append(record(2));
  old.log.append(record(3));
  next.log.append(record(2));
  check_iterations(read_results(dir.path()), 2);
}

TEST_CASE("a leftover file of a killed attempt does no harm") {
  Scratch dir;
  append_all(dir, 1, 2);
  write(dir / "result.json.a1", "rubbish");
  check_iterations(ResultLog::open(dir.run(), 2).history, 2);
  check_iterations(read_results(dir.path()), 2);
}

TEST_CASE("lines that do not fit on the disk are kept in memory and written later, without torn lines") {
  Scratch dir;
  auto opened = ResultLog::open(dir.run(), 0);
  opened.log.append(record(1));
  const auto before = read(dir / "result.json");
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() + 10, old.rlim_max};  // room for 10 bytes of the next line
  setrlimit(RLIMIT_FSIZE, &small);
  opened.log.append(record(2));
  opened.log.append(record(3));
  const auto said = test_error_of([&] { opened.log.sync(); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(said, Contains("result.json") && Contains("append"));
  CHECK(read(dir / "result.json") == before);
  opened.log.append(record(4));
  check_iterations(read_results(dir.path()), 4);
  opened.log.sync();
  check_iterations(read_results(dir.path()), 4);
}

TEST_CASE("a log without its private directory changes no file of the run directory") {
  Scratch dir;
  auto old = ResultLog::open(dir.run(), 0);
  old.log.append(record(1));
  old.log.sync();
  std::filesystem::create_directory(dir / ".next");
  std::filesystem::remove_all(dir / ".private");
  auto next = ResultLog::open({dir.path(), dir / ".next"}, 1);
  old.log.append(record(2));
  old.log.sync();
  check_iterations(read_results(dir.path()), 1);
  CHECK_THAT(test_error_of([&] { ResultLog::open({dir.path(), dir / ".private"}, 1); }), Contains("another attempt owns"));
  next.log.append(record(2));
  check_iterations(read_results(dir.path()), 2);
}
