// Tests of sparse rows that are read from lists in a dataset.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "frameworks/trees/row_lists.hpp"
#include "frameworks/trees/table_rows.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::frameworks::trees;

namespace {

struct Read {
  std::vector<std::size_t> blocks;  ///< rows of each
  std::vector<std::int32_t> columns;
};
Read seen;

void read_rows(Context& ctx) {
  TableLayout layout{.columns = 1 << 20, .label = "y", .sparse_indices = "i", .sparse_values = "v"};
  TableRows rows(ctx, ctx.dataset("train"), "train", layout);
  seen = {};
  while (const auto* const block = rows.next()) {
    seen.blocks.push_back(block->rows);
    seen.columns.insert(seen.columns.end(), block->columns.begin(), block->columns.end());
  }
}

/// Reads `rows` rows, alternately with `length` and `length` + 1 values. The values are in the columns 0, 1, ...
Read read_lines(int rows, int length) {
  const Scratch scratch;
  std::ofstream file(scratch / "rows.jsonl");
  for (int row = 0; row < rows; ++row) {
    std::string columns = "0", values = "1";
    for (int k = 1; k < length + row % 2; ++k) {
      columns += "," + std::to_string(k);
      values += ",1";
    }
    file << R"({"i":[)" << columns << R"(],"v":[)" << values << R"(],"y":1})"
         << "\n";
  }
  file.close();
  const auto source = scratch / "rows.jsonl";
  Options options;
  const std::pair<const char*, std::string> keys[] = {
      {"run.name", "r"}, {"run.storage_path", scratch.path()}, {"train.function", "test"}, {"data.train.source", source}};
  for (const auto& [key, value] : keys) options.set(key, {value, "test"});
  run_on(1, config::make_run_spec(options), read_rows);
  return seen;
}

}  // namespace

TEST_CASE("blocks of long lists have few rows, and blocks of short lists many") {
  const auto wide = read_lines(100, 20000);  // 8 MiB are 52 rows of 20,000 values, each with its column
  CHECK(std::accumulate(wide.blocks.begin(), wide.blocks.end(), std::size_t{0}) == 100);
  CHECK(std::ranges::max(wide.blocks) <= 64);
  CHECK(std::ranges::max(wide.blocks) >= 32);
  const auto narrow = read_lines(3000, 3);
  CHECK(narrow.blocks == std::vector<std::size_t>{3000});
  CHECK(std::ranges::equal(std::span(narrow.columns).first(7), std::vector<std::int32_t>{0, 1, 2, 0, 1, 2, 3}));
}

TEST_CASE("a column is an integer from 0 and below the number of columns") {
  CHECK(is_column(0, 3));
  CHECK(is_column(2.0F, 3));
  CHECK(is_column(std::uint8_t{2}, 3));
  CHECK_FALSE(is_column(3, 3));
  CHECK_FALSE(is_column(-1, 3));
  CHECK_FALSE(is_column(std::int64_t{4294967299}, 10));  // 3 in 32 bits
  CHECK_FALSE(is_column(1.5, 3));
  CHECK_FALSE(is_column(std::nan(""), 3));
  CHECK_FALSE(is_column(std::numeric_limits<double>::infinity(), 3));
}
