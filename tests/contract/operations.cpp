// Checks the contract of every operation of operation_table(): the keys of [data.NAME] that choose samples or make new
// ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "contract/walked_samples.hpp"
#include "data/reshape/operation.hpp"
#include "support/cpp/error_of.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Matchers::Contains;
using contract::walk;
using trainrt::test::error_of;

namespace {

/// Arguments of one operation that are valid or invalid for the samples of write_samples(). A new operation needs one row.
struct Row {
  std::string name, arguments;
  std::string of_one;   ///< a text that makes one sample of one sample
  std::string columns;  ///< fields that are read
  std::string invalid;  ///< a text that is an error
  std::string missing;  ///< a text with the field `absent`, which does not exist; "": the operation uses no field
  std::string without;  ///< a text that leaves no samples; "": there is none
};
const Row rows[] = {{"draw_by_weight", "w", "x", "id, x, w, zero, pages", "pages", "absent", "zero"},
                    {"every", "3", "3", "id, x", "0", "", ""},
                    {"explode", "pages", "pages", "id, x, pages, empty", "id", "absent", "empty"},
                    {"pack", "text 4 separator=0", "text 9 separator=0", "id, text", "text four", "absent 4", "text 4000"},
                    {"sequence", "3 stride=2 within=group", "1", "id, group, x", "3 strides=2", "3 within=absent", "3000"},
                    {"subset_after", "1:5, 8", "0", "id, x", "x:5", "", "5:5"},
                    {"where", "not x < 5", "x < 5", "id, x", "x <", "absent < 5", "x > 1000"}};

using Keys = std::map<std::string, std::string>;
constexpr int count = 16;

/// Returns one sample in JSON. Field `empty` is an empty list, and x of sample 2 is NaN.
std::string sample_text(int i) {
  constexpr std::array pages = {"7", "8, 9", "1, 2, 3"};
  return fmt::format(
      R"({{"id": {}, "group": {}, "x": {}, "w": {}, "zero": 0, "pages": [{}], "empty": [], "text": "sample {}"}})", i,
      i / 8, i == 2 ? "null" : fmt::format("{}.5", i), i % 4, pages[static_cast<std::size_t>(i) % 3], i * i);
}

/// Writes samples and returns the keys of a section with the operation of `row`.
Keys keys_of(const Scratch& dir, const Row& row, const std::string& arguments, int samples = count) {
  std::string text;
  for (int i = 0; i < samples; ++i) text += sample_text(i) + "\n";
  write(dir / "data.jsonl", text);
  Keys keys{{"source", dir / "data.jsonl"}, {"columns", row.columns}, {row.name, arguments}};
  if (row.name == "explode") keys["types"] = "empty:i64";
  return keys;
}

std::shared_ptr<DatasetImpl> prepared(const Keys& keys) { return contract::prepared(options(keys)); }

Keys with(Keys keys, const Keys& more) {
  for (const auto& [key, text] : more) keys[key] = text;
  return keys;
}

/// Returns whether field x of the dataset has a NaN.
bool has_nan(const std::shared_ptr<DatasetImpl>& dataset) {
  bool found = false;
  for (const auto& batch : Dataset(dataset).epoch(0).batches(4, Remainder::uneven)) {
    const auto values = batch.field("x");
    const std::span numbers(static_cast<const double*>(values.data), static_cast<std::size_t>(element_count(values.shape)));
    found = found || std::ranges::any_of(numbers, [](double number) { return std::isnan(number); });
  }
  return found;
}

}  // namespace

TEST_CASE("every operation is checked by this file") {
  std::vector<std::string> names, checked;
  for (const auto* kind : data::operation_table()) names.emplace_back(kind->name);
  for (const auto& row : rows) checked.push_back(row.name);
  std::ranges::sort(names);
  CHECK(names == checked);  // a new operation needs a row
}

TEST_CASE("invalid arguments of an operation are an error that names the section, the line and the key") {
  const Scratch dir;
  for (const auto& row : rows)
    for (const auto& text : {row.invalid, std::string(" ")}) {
      CAPTURE(row.name, text);
      CHECK_THROWS_AS(prepared(keys_of(dir, row, text)), UsageError);
      CHECK_THROWS_WITH(prepared(keys_of(dir, row, text)),
                        Contains("[data.train]") && Contains("train.ini:7") && Contains(row.name));
    }
}

TEST_CASE("a field that an operation does not find, and an unknown key, are errors that name it and the nearest name") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    if (!row.missing.empty())
      CHECK_THROWS_WITH(prepared(keys_of(dir, row, row.missing)),
                        Contains("[data.train]") && Contains(row.name) && Contains("'absent'") && Contains("id"));
    CHECK_THROWS_WITH(
        prepared(with(keys_of(dir, row, row.arguments), {{row.name + "s_", "1"}})),
        Contains("train.ini:7: unknown key '" + row.name + "s_'") && Contains("did you mean '" + row.name + "'"));
  }
}

TEST_CASE("an operation that leaves no samples is an error that names the key, and no samples are read from its result") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    if (!row.without.empty())
      CHECK_THROWS_WITH(prepared(keys_of(dir, row, row.without)), Contains("[data.train]") && Contains(row.name));
    data::Column column{0, {}, {}};
    prepared(keys_of(dir, row, row.arguments))->source()->read({}, {&column, 1});
    CHECK((column.values.empty() && column.ends.empty()));
  }
}

TEST_CASE("an operation makes one sample of one sample, in any number of threads") {
  const Scratch dir;
  for (const auto& row : rows)
    for (const std::string threads : {"0", "2"}) {
      CAPTURE(row.name, threads);
      CHECK(walk(prepared(with(keys_of(dir, row, row.of_one, 1), {{"threads", threads}})), 4).size() == 1);
    }
}

TEST_CASE("NaN in a field stays in the samples of an operation, and a weight of NaN is an error that names the field") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    auto keys = keys_of(dir, row, row.name == "subset_after" ? "0:5" : row.name == "every" ? "2" : row.arguments);
    if (row.name == "pack") continue;  // samples of pack have only the packed field, a text
    if (row.name == "draw_by_weight")
      CHECK_THROWS_WITH(prepared(with(keys, {{row.name, "x"}})), Contains("'x'") && Contains("nan"));
    CHECK(has_nan(prepared(keys)));
  }
}

TEST_CASE("the samples of an operation are the same with any number of threads, in memory and read ahead, in any batches") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    const auto keys = with(keys_of(dir, row, row.arguments), {{"shuffle", "true"}});
    const auto expected = walk(prepared(with(keys, {{"threads", "0"}})), 1);
    REQUIRE(expected.size() > 1);
    for (const std::size_t batch_size : {2, 5})
      for (const std::string memory : {"256 MiB", "1 KiB"})
        for (const std::string threads : {"1", "4"}) {
          CAPTURE(batch_size, memory, threads);
          CHECK(walk(prepared(with(keys, {{"memory", memory}, {"threads", threads}})), batch_size) == expected);
        }
  }
}

TEST_CASE("the samples of an operation continue at any sample after a stop") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    const auto keys = with(keys_of(dir, row, row.arguments), {{"shuffle", "true"}, {"memory", "1 KiB"}});
    CHECK(contract::check_restarts([&] { return prepared(keys); }).size() > 1);
  }
}

TEST_CASE("a damaged sample that an operation needs is an error that names the file") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    const auto keys = keys_of(dir, row, row.arguments);
    auto text = read(dir / "data.jsonl");
    const auto id = text.find("\"id\": 3,");
    REQUIRE(id != std::string::npos);
    write(dir / "data.jsonl", text.replace(id, 8, "\"id\": 3}"));
    CHECK_THAT(error_of([&] { walk(prepared(keys), 3); }), Contains("data.jsonl"));
  }
}
