#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

/// Returns a CSV table with the column x and `count` rows. The value of a row is its number or, if `is_bad` returns
/// true for this number, "?".
template <class IsBad>
std::string table(int count, const IsBad& is_bad) {
  std::string text = "x\n";
  for (int row = 0; row < count; ++row) text += (is_bad(row) ? "?" : std::to_string(row)) + "\n";
  return text;
}

std::vector<std::int64_t> walk(DatasetImpl& dataset, std::size_t batch_size) {
  std::vector<std::int64_t> seen;
  const std::shared_ptr<DatasetImpl> shared(&dataset, [](auto*) {});
  for (const auto& batch : Dataset(shared).epoch(0).batches(batch_size, Remainder::uneven)) {
    const auto values = batch.field("x");
    REQUIRE(values.shape[0] == static_cast<std::int64_t>(batch.size()));
    const auto* const numbers = static_cast<const std::int64_t*>(values.data);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      CHECK(numbers[i] == static_cast<std::int64_t>(batch.indices()[i]));
      seen.push_back(numbers[i]);
    }
  }
  return seen;
}

}  // namespace

TEST_CASE(
    "a sample that cannot be read is an error that names its position, or is skipped, counted and missing in its batch") {
  const Scratch dir;
  const auto is_bad = [](int row) { return row % 17 == 3; };
  write(dir / "x.csv", table(100, is_bad));
  std::vector<std::int64_t> good;
  for (int row = 0; row < 100; ++row)
    if (!is_bad(row)) good.push_back(row);
  const std::map<std::string, std::string> plain{{"source", dir / "x.csv"}, {"types", "x:i64"}, {"memory", "0 B"}};
  CHECK_THROWS_WITH(walk(*open(plain), 10), Contains("x.csv") && Contains("row") && Contains("'?'"));
  for (const std::map<std::string, std::string>& more : {std::map<std::string, std::string>{},
                                                         {{"threads", "0"}},
                                                         {{"memory", "1 GiB"}},
                                                         {{"shuffle", "true"}},
                                                         {{"shuffle", "true"}, {"block", "8"}, {"window", "70"}}}) {
    auto values = plain;
    for (const auto& [key, value] : more) values[key] = value;
    values["on_error"] = "skip";
    const auto dataset = open(values);
    auto seen = walk(*dataset, 10);
    std::sort(seen.begin(), seen.end());
    CHECK(seen == good);
    CHECK(dataset->plan().skipping->skipped() == 100 - good.size());
  }
}

TEST_CASE("a batch without a readable sample is an error, also with on_error = skip") {
  const Scratch dir;
  write(dir / "x.csv", table(40, [](int row) { return row >= 20; }));
  const auto dataset = open({{"source", dir / "x.csv"}, {"types", "x:i64"}, {"on_error", "skip"}});
  CHECK_THROWS_WITH(walk(*dataset, 10), Contains("dataset 'train'") && Contains("no sample of a batch of 10"));
}

TEST_CASE("a file that cannot be read is skipped, also in a mix of sources; if all files are, that is an error") {
  const Scratch dir;
  write(dir / "a1.csv", table(10, [](int) { return false; }));
  write(dir / "a2.csv", "x\n");
  write(dir / "b1.csv", table(10, [](int) { return false; }));
  std::map<std::string, std::string> values{
      {"source", dir / "a*.csv, " + (dir / "b*.csv")}, {"weights", "1, 3"}, {"shuffle", "true"}};
  CHECK_THROWS_WITH(open(values), Contains("a2.csv"));
  values["on_error"] = "skip";
  const auto dataset = open(values);
  CHECK(dataset->source()->size() == 20);
  REQUIRE(dataset->plan().order.mixed.size() == 2);
  CHECK(dataset->plan().order.mixed[1].first == 10);
  CHECK(dataset->plan().order.mixed[1].share == 15);
  CHECK_THROWS_WITH(open({{"source", dir / "a2.csv"}, {"on_error", "skip"}}),
                    Contains("no file of the dataset can be read"));
  CHECK_THROWS_WITH(open({{"source", dir / "a1.csv"}, {"on_error", "stopp"}}), Contains("stop, skip"));
}

TEST_CASE(
    "rows with a wrong number of values and lines that are no objects are skipped one by one, also at the beginning") {
  const Scratch dir;
  write(dir / "x.csv", "x,y\n0,a\n1\n2,c\n3,d,e\n4,f\n");
  write(dir / "x.jsonl", "{\"x\": 0}\n{\"x\": \n{\"x\": 2}\n[3]\n{\"x\": 4}\n");
  for (const std::string name : {"x.csv", "x.jsonl"}) {
    CHECK_THROWS_WITH(open({{"source", dir / name}}), Contains(name));
    const auto dataset = open({{"source", dir / name}, {"types", "x:i64"}, {"on_error", "skip"}});
    CHECK(walk(*dataset, 5) == std::vector<std::int64_t>{0, 2, 4});
    CHECK(dataset->plan().skipping->skipped() == 2);
  }
}
