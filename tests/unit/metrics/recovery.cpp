#include "metrics/recovery.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "metrics/csv.hpp"
#include "metrics/record_json.hpp"
#include "metrics/result_log.hpp"
#include "metrics/sink.hpp"
#include "metrics/typed_columns.hpp"
#include "unit/metrics/open_sink.hpp"
#include "unit/metrics/support.hpp"

using namespace trainrt;
using namespace trainrt::metrics;
using Catch::Contains;

namespace {

constexpr auto infinity = std::numeric_limits<double>::infinity();

/// Returns records in the order of their columns, with keys that are missing in some, keys of several types, texts that
/// look like numbers, and extreme numbers.
std::vector<Record> odd_records() {
  const std::vector<std::vector<std::pair<std::string, Record::Value>>> values = {
      {{"loss", 0.1}, {"n", std::int64_t{1}}, {"note", std::string("plain")}, {"mixed", 1.0}, {"a/b", 5e-324}},
      {{"loss", std::nan("")}, {"n", std::int64_t{2}}, {"note", std::string()}, {"mixed", std::int64_t{1}}},
      {{"loss", -0.0}, {"n", std::int64_t{3}}, {"note", std::string("nan")}, {"mixed", std::string("1")}},
      {{"loss", infinity}, {"n", INT64_MAX}, {"note", std::string("a,\"b\"\r\nc")}, {"late", std::int64_t{7}}},
      {{"loss", 3.0}, {"n", INT64_MIN}, {"note", std::string("1e5")}, {"late", std::int64_t{8}}, {"100%", 1e300}},
      {{"loss", -infinity}, {"n", std::int64_t{6}}, {"late", 0.5}, {"large", INT64_MAX}},
      {{"loss", 1e22}, {"n", std::int64_t{7}}, {"a/b", 1.0 / 3}, {"large", 0.5}},
  };
  std::vector<Record> records;
  for (const auto& own : values) {
    const auto iteration = static_cast<std::int64_t>(records.size()) + 1;
    Record record{iteration, own};
    record.values.emplace_back("_timestamp", std::int64_t{1700000000} + iteration);
    record.values.emplace_back("_time_this_iter_s", 1.0 / static_cast<double>(iteration));
    record.values.emplace_back("_training_iteration", iteration);
    records.push_back(std::move(record));
  }
  return records;
}

bool same_value(const Record::Value& a, const Record::Value& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return (std::isnan(*x) && std::isnan(*y)) || std::memcmp(x, y, sizeof *x) == 0;
}

void check_same(const std::vector<Record>& found, const std::vector<Record>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("record " << i + 1 << ": " << to_json(found[i]) << ", expected " << to_json(expected[i]));
    CHECK(found[i].iteration == expected[i].iteration);
    REQUIRE(found[i].values.size() == expected[i].values.size());
    for (const auto& [key, value] : expected[i].values) {
      INFO(key);
      REQUIRE(found[i].find(key) != nullptr);
      CHECK(same_value(*found[i].find(key), value));
    }
  }
}

void write_sink(const Scratch& dir, const char* name, const std::vector<Record>& records) {
  auto sink = open_sink(name, dir.run());
  sink->begin({});
  for (const auto& record : records) sink->write(record);
  sink->end();
}

void write_log(const Scratch& dir, const std::vector<Record>& records) {
  auto opened = ResultLog::open(dir.run(), 0);
  for (const auto& record : records) opened.log.append(record);
  opened.log.sync();
}

}  // namespace

TEST_CASE("the records are read back from progress.csv and from metrics.h5 with all bits and types") {
  const auto records = odd_records();
  Scratch dir;
  write_sink(dir, "csv", records);
  check_same(csv_records(read(dir / "progress.csv")), records);
  write_sink(dir, "hdf5", records);
  check_same(metrics_records(dir / "metrics.h5"), records);
}

TEST_CASE("texts in progress.csv are not formulas for a spreadsheet, and are read back unchanged") {
  const std::vector<std::string> texts = {"=1+1", "+5", "-5", "-a", "@a", "'=1", "''", "'-5", "=\"a\",b", "\t=1", "plain"};
  std::vector<Record> records;
  for (const auto& text : texts) {
    const auto iteration = static_cast<std::int64_t>(records.size()) + 1;
    Record record{iteration, {{"=key", text}, {"loss", -1.5}, {"count", std::int64_t{-2}}}};
    record.values.emplace_back("_training_iteration", iteration);
    records.push_back(std::move(record));
  }
  Scratch dir;
  write_sink(dir, "csv", records);
  const auto table = read(dir / "progress.csv");
  check_same(csv_records(table), records);
  CHECK_THAT(table, Catch::Matchers::StartsWith("'=key,loss,count") && Contains("\n'=1+1,-1.5,-2,") &&
                        Contains("\n\"-5\",-1.5") && Contains("\n\"'=\"\"a\"\",b\",") && Contains("\nplain,"));
}

TEST_CASE("doubles are read back bit for bit from progress.csv and metrics.h5") {
  Random random(7, 0);
  std::vector<Record> records;
  for (std::int64_t i = 1; i <= 2000; ++i) {
    const auto bits = random.next_u64();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    records.push_back({i, {{"x", number}, {"_training_iteration", i}}});
  }
  Scratch dir;
  write_sink(dir, "csv", records);
  check_same(csv_records(read(dir / "progress.csv")), records);
  write_sink(dir, "hdf5", records);
  check_same(metrics_records(dir / "metrics.h5"), records);
}

TEST_CASE("a lost or truncated result.json is recovered from its derived files, byte for byte") {
  const auto records = odd_records();
  for (const char* source : {"csv", "hdf5"})
    for (const std::size_t lines_left : {0, 1, 5}) {
      INFO(source << ", " << lines_left << " lines left");
      Scratch dir;
      write_log(dir, records);
      write_sink(dir, source, records);
      const auto complete = read(dir / "result.json");
      std::size_t end = 0;
      for (std::size_t i = 0; i < lines_left; ++i) end = complete.find('\n', end) + 1;
      if (lines_left == 0)
        std::filesystem::remove(dir / "result.json");
      else
        write(dir / "result.json", complete.substr(0, end + 9));
      const auto opened = ResultLog::open(dir.run(), 7);
      check_same(opened.history, records);
      std::size_t same_order = 0;
      for (std::size_t i = 0; i < records.size(); ++i) same_order += to_json(opened.history[i]) == to_json(records[i]);
      CHECK(same_order == records.size());
      CHECK(read(dir / "result.json") == complete);
    }
}

TEST_CASE("records that no derived file has are an error, and a torn row of progress.csv is not a record") {
  const auto records = odd_records();
  Scratch dir;
  write_sink(dir, "csv", records);
  const auto table = read(dir / "progress.csv");
  write(dir / "progress.csv", table.substr(0, table.size() - 1));
  CHECK(csv_records(read(dir / "progress.csv")).size() == records.size() - 1);
  CHECK_THROWS_WITH(ResultLog::open(dir.run(), 7), Contains("1 to 7 are missing") && Contains("progress.csv"));
  CHECK(ResultLog::open(dir.run(), 6).history.size() == 6);
}

TEST_CASE("a damaged metrics.h5 or progress.csv causes no crash, and its records are not used") {
  Scratch dir;
  write_sink(dir, "hdf5", odd_records());
  const auto image = read(dir / "metrics.h5");
  for (std::size_t at = 0; at < image.size(); at += 37) {
    auto damaged = image;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write(dir / "metrics.h5", damaged);
    CHECK_THROWS_AS(metrics_records(dir / "metrics.h5"), Error);
  }
  write(dir / "metrics.h5", image.substr(0, image.size() - 1));
  CHECK_THROWS_AS(metrics_records(dir / "metrics.h5"), Error);
  for (const char* text : {"", "\n", "a", "\"", "a,b\n1\n", "_training_iteration\n0\n", "_training_iteration\nx\n"})
    CHECK(csv_records(text).empty());
}
