#include <trainrt/error.hpp>

#include "data/source/row_bitmap.hpp"
#include "support/cpp/error_of.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

/// Writes a table of 1000 rows. Row i has the number i, and as `word` the letter w and i % 5 letters x. Returns its path.
std::string table(const Scratch& dir) {
  std::string text = "x,word\n";
  for (int i = 0; i < 1000; ++i)
    text += std::to_string(i) + ",w" + std::string(static_cast<std::size_t>(i % 5), 'x') + "\n";
  write(dir / "table.csv", text);
  return dir / "table.csv";
}

std::shared_ptr<DatasetImpl> open(const Scratch& dir, std::map<std::string, std::string> more = {}, Shard shard = {}) {
  more.insert({{"source", table(dir)}, {"types", "x:i64, word:text"}});
  return data::open_dataset("train", options(more), data::list_dataset("train", options(more)), shard, 1);
}

std::int64_t number_of(const TensorView& values) { return *static_cast<const std::int64_t*>(values.data); }

bool is_third(const TensorView& values) { return number_of(values) % 3 == 0; }

std::vector<std::int64_t> walk(const std::shared_ptr<DatasetImpl>& dataset, std::int64_t epoch = 0) {
  std::vector<std::int64_t> seen;
  for (const auto& batch : Dataset(dataset).epoch(epoch).batches(7, Remainder::uneven)) {
    const auto values = batch.field("x");
    const auto* const numbers = static_cast<const std::int64_t*>(values.data);
    seen.insert(seen.end(), numbers, numbers + batch.size());
  }
  return seen;
}

std::vector<std::int64_t> thirds() {
  std::vector<std::int64_t> numbers;
  for (int i = 0; i < 1000; i += 3) numbers.push_back(i);
  return numbers;
}

}  // namespace

TEST_CASE("kept rows are found by their position, and counted below a row") {
  Random random(1, 0);
  for (const int rows : {1, 63, 64, 65, 511, 512, 513, 5000}) {
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(rows + 63) / 64), kept;
    for (int row = 0; row < rows; ++row) {
      if (random.below(3) != 0 && row < rows - 1) continue;  // the last row is always included
      bits[static_cast<std::size_t>(row) / 64] |= std::uint64_t{1} << (row % 64);
      kept.push_back(static_cast<std::uint64_t>(row));
    }
    const data::RowBitmap found(bits);
    REQUIRE(found.size() == kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      REQUIRE(found[i] == kept[i]);
      REQUIRE(found.count_below(kept[i]) == i);
      REQUIRE(found.count_below(kept[i] + 1) == i + 1);
    }
    REQUIRE(found.count_below(static_cast<std::uint64_t>(rows)) == kept.size());
  }
}

TEST_CASE("filters of numbers and texts remove the samples that they do not keep, one filter after another") {
  const Scratch dir;
  const auto dataset = open(dir);
  Dataset(dataset).filter("x", is_third);
  CHECK(Dataset(dataset).size() == 334);
  CHECK(walk(dataset) == thirds());
  Dataset(dataset).filter("word", [](const TensorView& text) { return text.shape == Shape{1} && text.dtype == DType::u8; });
  const auto left = walk(dataset);
  CHECK(left.size() == 67);
  for (const auto number : left) CHECK(number % 15 == 0);
}

TEST_CASE("a filtered dataset is shuffled in each epoch, in blocks or completely, and each sample comes once") {
  const Scratch dir;
  for (const auto* block : {"0", "10"}) {
    const auto dataset = open(dir, {{"shuffle", "true"}, {"block", block}, {"window", "8"}, {"memory", "0 B"}});
    Dataset(dataset).filter("x", is_third);
    auto first = walk(dataset), second = walk(dataset, 1);
    CHECK(first != second);
    CHECK(first != thirds());
    std::ranges::sort(first);
    std::ranges::sort(second);
    CHECK(first == thirds());
    CHECK(second == thirds());
  }
}

TEST_CASE("mixed sources keep their shares of the epoch after a filter") {
  const Scratch dir;
  const auto one = table(dir);
  std::string text = "x,word\n";
  for (int i = 1000; i < 2000; ++i) text += std::to_string(i) + ",w\n";
  write(dir / "other.csv", text);
  const auto dataset =
      open(dir, {{"source", one + ", " + (dir / "other.csv")}, {"weights", "0.5, 0.5"}, {"shuffle", "true"}});
  Dataset(dataset).filter("x", [](const TensorView& values) { return number_of(values) < 1100; });
  const auto seen = walk(dataset);
  CHECK(seen.size() == 1100);
  CHECK(std::ranges::count_if(seen, [](std::int64_t number) { return number < 1000; }) == 550);
  CHECK_THROWS_WITH(Dataset(dataset).filter("x", [](const TensorView& values) { return number_of(values) < 10; }),
                    Contains("removes all samples of source"));
}

TEST_CASE("a position inside an epoch continues after the same filter, and is refused after another one") {
  const Scratch dir;
  const auto dataset = open(dir, {{"shuffle", "true"}});
  Dataset(dataset).filter("x", is_third);
  const auto whole = walk(dataset);
  for (const bool is_same : {true, false}) {
    const auto again = open(dir, {{"shuffle", "true"}});
    again->walk().restore({true, 0, 70}, dataset->plan().steps_text());
    if (is_same) {
      Dataset(again).filter("x", is_third);
      CHECK(walk(again) == std::vector(whole.begin() + 70, whole.end()));
    } else {
      Dataset(again).filter("x", [](const TensorView& values) { return number_of(values) % 3 == 1; });
      CHECK_THROWS_WITH(walk(again), Contains("333 of 1000 samples") && Contains("334 of 1000 samples"));
    }
  }
}

TEST_CASE("a filter by a condition keeps the samples that meet it, also if values are read from files") {
  const Scratch dir;
  for (const auto* memory : {"0 B", "256 MiB"}) {
    const auto dataset = open(dir, {{"memory", memory}});
    Dataset(dataset).filter("x >= 10 and (word == 'w' or x > 997)");
    std::vector<std::int64_t> expected;
    for (int i = 10; i < 1000; ++i)
      if (i % 5 == 0 || i > 997) expected.push_back(i);
    CHECK(walk(dataset) == expected);
    Dataset(dataset).filter("not word == 'w'");
    CHECK(walk(dataset) == std::vector<std::int64_t>{998, 999});
  }
}

TEST_CASE("an invalid condition is an error with the position, and a condition that removes all samples is an error") {
  const Scratch dir;
  const auto refused = [&](const char* condition) {
    return trainrt::test::error_of([&] { Dataset(open(dir)).filter(condition); });
  };
  CHECK_THAT(refused("x > 1000"), Contains("dataset 'train'") && Contains("removes all 1000 samples"));
  CHECK_THAT(refused("y > 3"), Contains("at character 1") && Contains("the fields are: x, word"));
  CHECK_THAT(refused("x > 'a'"), Contains("cannot be compared"));
  CHECK_THAT(refused("x >"), Contains("at character 4"));
}

TEST_CASE("an unknown field, no remaining samples, and a filter while batches are being read are errors") {
  const Scratch dir;
  const auto dataset = open(dir);
  CHECK_THROWS_WITH(Dataset(dataset).filter("y", is_third), Contains("'train'") && Contains("x"));
  CHECK_THROWS_WITH(Dataset(dataset).filter("x", [](const TensorView&) { return false; }),
                    Contains("the filter removes all 1000 samples"));
  for ([[maybe_unused]] const auto& batch : Dataset(dataset).epoch(0).batches(10))
    CHECK_THROWS_WITH(Dataset(dataset).filter("x", is_third), Contains("being read"));
}

TEST_CASE("a reference to the fields of a dataset stays valid after a filter") {
  const Scratch dir;
  const auto dataset = open(dir);
  const auto& fields = Dataset(dataset).fields();
  Dataset(dataset).filter("x < 7");
  CHECK(&fields == &Dataset(dataset).fields());
  CHECK(fields.front().name == "x");
}
