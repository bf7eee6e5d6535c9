#include <atomic>

#include <trainrt/error.hpp>

#include "data/tables/table_source.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

/// Three blocks with the columns n, the number of the row, and t, a text of that length.
class TableOfNumbers final : public data::TableReader {
 public:
  explicit TableOfNumbers(std::atomic<int>& reads, bool by_rows) : reads_(reads), by_rows_(by_rows) {}
  const std::vector<data::TableColumn>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& blocks() const override { return blocks_; }
  bool has_missing_values(std::size_t) const override { return true; }
  bool is_by_rows() const override { return by_rows_; }
  std::uint64_t varying_bytes(std::size_t, std::size_t) const override { return 8; }
  void read(std::size_t block, std::span<const data::TableTarget> targets) const override {
    ++reads_;
    const std::uint64_t first = block == 0 ? 0 : block == 1 ? 4 : 4;
    for (const auto& target : targets)
      for (std::uint64_t row = 0; row < blocks_[block]; ++row) {
        const auto text = std::string(first + row, 'x');
        const auto value = static_cast<float>(first + row);
        if (target.varying == nullptr) {
          std::memcpy(target.values + row * target.stride, &value, sizeof value);
          continue;
        }
        data::require_room_for(text.size(), target);
        for (const char c : text) target.varying->values.push_back(static_cast<std::byte>(c));
        target.varying->ends.push_back(target.varying->values.size());
      }
  }

 private:
  std::atomic<int>& reads_;
  bool by_rows_;
  std::vector<std::uint64_t> blocks_ = {4, 0, 3};
  std::vector<data::TableColumn> columns_ = {
      {.name = "n", .file_type = "int32", .dtype = DType::i32, .is_nullable = true},
      {.name = "t", .file_type = "string", .dtype = DType::u8, .varies = true, .is_text = true},
      {.name = "s", .file_type = "struct", .unreadable = "nested"}};
};

data::TablePlan plan_with(const std::map<std::string, std::string>& keys) {
  std::atomic<int> reads = 0;
  auto specs = data::table_options();
  return data::table_plan(TableOfNumbers(reads, false), checked(options(keys), specs, "[data.train]"), "x.table");
}

std::string texts_of(const data::Source& source, const std::vector<std::uint64_t>& samples) {
  data::Column column{1, {}, {}};
  source.read(samples, {&column, 1});
  std::string made;
  std::uint64_t at = 0;
  for (const auto end : column.ends) made += std::to_string(end - std::exchange(at, end)) + " ";
  return made;
}

std::vector<float> numbers_of(const data::Source& source, const std::vector<std::uint64_t>& samples) {
  data::Column column{0, {}, {}};
  source.read(samples, {&column, 1});
  std::vector<float> values(samples.size());
  std::memcpy(values.data(), column.values.data(), column.values.size());
  return values;
}

}  // namespace

TEST_CASE("samples of a table are read in any order, from kept or cached blocks, by columns or by rows") {
  for (const bool by_rows : {false, true})
    for (const std::uint64_t max_kept : {0, 3, 10'000}) {
      std::atomic<int> reads = 0;
      const auto open = [&](const auto&) { return std::make_unique<const TableOfNumbers>(reads, by_rows); };
      const data::TableSource source("x.table", plan_with({{"types", "n:f32"}}), open, {{}, 0}, 1000, max_kept);
      CHECK(source.is_resident() == (max_kept == 10'000));
      REQUIRE(source.size() == 7);
      for (int again = 0; again < 3; ++again) {
        CHECK(numbers_of(source, {6, 0, 1, 2, 4, 3, 3}) == std::vector<float>{6, 0, 1, 2, 4, 3, 3});
        CHECK(texts_of(source, {5, 1, 2, 2, 6}) == "5 1 2 2 6 ");
      }
      CHECK(texts_of(source, {}).empty());
      if (max_kept == 0) CHECK(reads == (by_rows ? 2 : 4));
    }
}

TEST_CASE("a block of a field above max_expanded_bytes is an error that names the field") {
  std::atomic<int> reads = 0;
  const auto open = [&](const auto&) { return std::make_unique<const TableOfNumbers>(reads, false); };
  const data::ExpansionLimit limit(options({{"max_expanded_bytes", "8"}}), 0);
  const auto opened = [&] { data::TableSource("x.table", plan_with({{"types", "n:f32"}}), open, limit, 1000, 0); };
  CHECK_THROWS_WITH(opened(), Contains("'x.table'") && Contains("the field 'n'") && Contains("max_expanded_bytes = 8"));
  CHECK(reads == 0);
}

TEST_CASE("integers of which some are missing become f64, unless their type is given") {
  CHECK(plan_with({}).fields[0].field.dtype == DType::f64);
  CHECK(plan_with({{"types", "n:i16"}}).fields[0].field.dtype == DType::i16);
  const auto vector = plan_with({{"vector", "x"}});
  CHECK(vector.fields[0].field.name == "x");
  CHECK(vector.fields[0].field.sample_shape == Shape{1});
}

TEST_CASE("a key that does not match the columns of a table is an error that names key, file and column") {
  CHECK_THROWS_WITH(plan_with({{"columns", "s"}}),
                    Contains("columns") && Contains("'s'") && Contains("x.table") && Contains("nested"));
  CHECK_THROWS_WITH(plan_with({{"columns", "nn"}}), Contains("columns") && Contains("'nn'") && Contains("did you mean"));
  CHECK_THROWS_WITH(plan_with({{"types", "t:i32"}}), Contains("types") && Contains("'t'"));
  CHECK_THROWS_WITH(plan_with({{"columns", "t"}, {"vector", "x"}}), Contains("vector") && Contains("no column of numbers"));
  CHECK_THROWS_WITH(plan_with({{"vector", "t"}}), Contains("vector") && Contains("two of its columns"));
}

TEST_CASE("a packed plan of a table is unpacked without change") {
  const auto plan = plan_with({{"vector", "x:f64"}});
  const auto again = data::plan_of(data::content_of(plan));
  CHECK(again.blocks == plan.blocks);
  REQUIRE(again.fields.size() == plan.fields.size());
  CHECK(again.fields[0].parts[0].column == 0);
  CHECK(again.fields[1].field.varies);
  CHECK(data::content_of(plan).together == 4);
}
