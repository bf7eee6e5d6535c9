#include "data/source/row_ranges.hpp"

#include <numeric>

#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using data::RowRanges;

namespace {

std::vector<std::uint64_t> all_of(const RowRanges& rows) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < rows.size(); ++i) found.push_back(rows[i]);
  return found;
}

using Rows = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("row ranges are ranges and single numbers, in the order in which they are given") {
  CHECK(all_of(RowRanges("3:6")) == Rows{3, 4, 5});
  CHECK(all_of(RowRanges("9, 0:2,7\n8 9\r\n1:1")) == Rows{9, 0, 1, 7, 8, 9});
  CHECK(all_of(RowRanges("")).empty());
  CHECK(RowRanges("5, 2:4").max() == 5);
  CHECK(RowRanges("0:4611686018427387904").size() == 1ULL << 62);
}

TEST_CASE("an invalid row range is quoted") {
  for (const std::string bad :
       {"a", "-1", "3:", ":3", "5:3", "1:2:3", "1.5", "99999999999999999999", "9223372036854775808"})
    CHECK_THROWS_WITH(RowRanges("0:2, " + bad), Contains("'" + bad + "'") && Contains("FIRST:END"));
}

TEST_CASE("a subset has the chosen samples, shuffled as well, and refuses samples that do not exist") {
  const auto dataset = open({{"format", "range"}, {"samples", "10"}, {"subset", "7, 0:2, 9"}});
  CHECK(gathered<std::int64_t>(*dataset, 0, {0, 1, 2, 3}) == std::vector<std::int64_t>{7, 0, 1, 9});
  const auto shuffled = open({{"format", "range"}, {"samples", "10"}, {"subset", "2:8"}, {"shuffle", "true"}});
  CHECK(shuffled->source()->size() == 6);
  CHECK_THROWS_WITH(open({{"format", "range"}, {"samples", "10"}, {"subset", "0:11"}}),
                    Contains("[data.train]") && Contains("sample 10"));
  CHECK_THROWS_WITH(open({{"format", "range"}, {"subset", "3:3"}}), Contains("no samples"));
}

TEST_CASE("a subset can be read from a file, and a position inside an epoch depends on it") {
  const Scratch scratch;
  const auto file = scratch / "chosen.rows";
  write(file, "4\n2\n0:2\n");
  const auto dataset = open({{"format", "range"}, {"samples", "10"}, {"subset", "@" + file}});
  CHECK(gathered<std::int64_t>(*dataset, 0, {0, 1, 2, 3}) == std::vector<std::int64_t>{4, 2, 0, 1});
  const auto others = open({{"format", "range"}, {"samples", "10"}, {"subset", "4, 2, 1, 0"}});
  CHECK(dataset->plan().order_text != others->plan().order_text);
  CHECK_THROWS_WITH(open({{"format", "range"}, {"subset", "@" + file + ".none"}}), Contains("[data.train]"));
  write(file, " \n\n");
  CHECK_THROWS_WITH(open({{"format", "range"}, {"subset", "@" + file}}),
                    Contains("[data.train]") && Contains("names no samples"));
}

TEST_CASE("a dataset that is not split is complete on each rank, and its own seed gives another order") {
  const auto opened = [](const std::map<std::string, std::string>& more) {
    auto values = more;
    values.insert({{"format", "range"}, {"samples", "100"}, {"shuffle", "true"}});
    return data::open_dataset("train", options(values), data::list_dataset("train", options(values)), {1, 2, 2}, 1);
  };
  CHECK(opened({})->plan().shard.size == 2);
  CHECK(opened({{"split", "false"}})->plan().shard.size == 1);
  const auto first = [&](const std::map<std::string, std::string>& more) { return opened(more)->plan().order_of(0)[0]; };
  CHECK(first({{"shuffle_seed", "5"}}) != first({{"shuffle_seed", "6"}}));
  CHECK(first({{"shuffle_seed", "0"}}) == first({}));
}
