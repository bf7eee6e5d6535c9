#include "data/records/record_formats.hpp"

#include <cmath>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "unit/data/record_support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

std::shared_ptr<DatasetImpl> opened(const Scratch& dir, const std::string& text,
                                    std::map<std::string, std::string> keys = {}) {
  write(dir / "x.jsonl", text);
  keys["source"] = dir / "x.jsonl";
  return open(keys);
}

std::string refusal(const Scratch& dir, const std::string& text, const std::map<std::string, std::string>& keys = {}) {
  try {
    opened(dir, text, keys);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::string fields(const DatasetImpl& dataset) { return data::in_words(dataset.source()->fields()); }

}  // namespace

TEST_CASE("keys of JSON lines are fields: numbers, booleans, texts and arrays of numbers") {
  const Scratch dir;
  const auto dataset = opened(
      dir, R"({"n": 3, "x": 1, "b": true, "t": "a\nü", "v": [1, 2.5], "ids": [1, 2, 3], "none": [], "m": 2})"
           "\r\n\n"
           R"({"x": 2.5, "n": -4, "b": false, "t": null, "v": [3, null], "ids": [], "none": [], "m": null, "new": 7})");
  CHECK(fields(*dataset) ==
        "n i64[], x f64[], b bool[], t u8[varies], v f64[2], ids i64[varies], none i64[0], m f64[], new f64[]");
  const auto added = gathered<double>(*dataset, 8, {0, 1});
  CHECK((std::isnan(added[0]) && added[1] == 7));
  CHECK(gathered<std::int64_t>(*dataset, 0, {1, 0}) == std::vector<std::int64_t>{-4, 3});
  CHECK(gathered<double>(*dataset, 1, {0, 1}) == std::vector<double>{1, 2.5});
  const auto values = all_values(*dataset->source());
  CHECK(values[3] == std::vector<std::string>{"a\nü", ""});
  const auto v = gathered<double>(*dataset, 4, {0, 1});
  CHECK((v[0] == 1 && v[1] == 2.5 && v[2] == 3 && std::isnan(v[3])));
  CHECK(gathered<std::int64_t>(*dataset, 5, {1, 0, 1}) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(std::isnan(gathered<double>(*dataset, 7, {1})[0]));
  CHECK(fields(*opened(dir, R"({"x": 1, "v": [1, 2]})", {{"types", "x:f32, v:i16"}, {"columns", "v, x"}})) ==
        "v i16[2], x f32[]");
}

TEST_CASE("real numbers of JSON lines have the bits that strtod() returns, and integers are exact") {
  const Scratch dir;
  const std::vector<std::string> reals{"-0.0",
                                       "1e-400",
                                       "-1e-400",
                                       "5e-324",
                                       "2.2250738585072011e-308",
                                       "0.1",
                                       "1E5",
                                       "2e+3",
                                       "1.7976931348623157e308",
                                       "123456789012345678901234567890.5",
                                       "0.30000000000000004",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "9007199254740993.0",
                                       "-12.50"};
  std::string text;
  for (const auto& number : reals) text += "{\"x\": " + number + "}\n";
  const auto dataset = opened(dir, text, {{"types", "x:f64"}});
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const double expected = std::strtod(reals[i].c_str(), nullptr), value = gathered<double>(*dataset, 0, {i})[0];
    CAPTURE(reals[i]);
    CHECK(std::memcmp(&value, &expected, sizeof value) == 0);
  }
  const auto whole =
      opened(dir, "{\"n\":-9223372036854775808}\n{\"n\":9223372036854775807}\n{\"n\":9007199254740993}\n{\"n\":-0}\n");
  CHECK(gathered<std::int64_t>(*whole, 0, {0, 1, 2, 3}) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                  9007199254740993, 0});
  const auto as_written = opened(dir, "{\"n\":1.50}\n{\"n\":18446744073709551616}\n{\"n\":-7}\n", {{"types", "n:text"}});
  CHECK(all_values(*as_written->source())[0] == std::vector<std::string>{"1.50", "18446744073709551616", "-7"});
  CHECK_THAT(refusal(dir, "{\"n\":1.5}\n{\"n\":9007199254740993}\n"),
             Contains("row 2") && Contains("f64 cannot represent exactly"));
}

TEST_CASE("strings of JSON lines are unescaped, and keys may have escapes") {
  const Scratch dir;
  const auto dataset = opened(dir, R"({"\u0074": "\"\\\/\b\f\n\r\t", "\"": "plain"})"
                                   "\n"
                                   R"({"t": "\u00e4\ud83d\ude00\u0000.", "\"": ""})"
                                   "\n");
  const auto values = all_values(*dataset->source());
  CHECK(values[0] == std::vector<std::string>{"\"\\/\b\f\n\r\t", std::string("\xc3\xa4\xf0\x9f\x98\x80\0.", 8)});
  CHECK(values[1] == std::vector<std::string>{"plain", ""});
}

TEST_CASE("a line that is not valid JSON is an error with its row, also in values that are not read") {
  const Scratch dir;
  const std::vector<std::string> damaged{"tru",
                                         "nulll",
                                         "01",
                                         "-",
                                         "1.",
                                         ".5",
                                         "+1",
                                         "1e",
                                         "1e400",
                                         "NaN",
                                         "\"\\ud800\"",
                                         "\"\\udc00\"",
                                         "\"\\x\"",
                                         "\"\xff\"",
                                         "\"a\tb\"",
                                         "\"a",
                                         "[1,]",
                                         "[1 2]",
                                         "[1",
                                         "{\"c\" 1}",
                                         "{\"c\":}",
                                         "{1:2}",
                                         "{\"c\":[{\"d\":fals}]}",
                                         "1 2",
                                         "1}",
                                         "\"a\":2",
                                         std::string("\"\0\"", 3)};
  for (const auto& value : damaged) {
    CAPTURE(value);
    for (const auto* key : {"a", "other"}) {
      const auto text = fmt::format("{{\"a\": 1}}\n{{\"a\": 2, \"{}\": {}}}\n", key, value);
      const auto why = refusal(dir, text, {{"columns", "a"}});
      CHECK_THAT(why, Contains("x.jsonl', row 2") && (Contains("not valid JSON") || Contains("occurs twice")));
    }
  }
  CHECK_THAT(refusal(dir, "{\"a\": tru}\n"),
             Contains("row 1: the line is not valid JSON: parse error at line 1, column 10"));
  CHECK_THAT(refusal(dir, "{\"a\": NaN}\n"), Contains("write null for a missing number"));
}

TEST_CASE("a JSON lines dataset of one sample works, and an epoch resumes after any sample") {
  const Scratch dir;
  CHECK(epoch_of(opened(dir, "{\"t\":\"only\"}")) == std::vector<std::string>{"0:only;"});
  std::string text;
  for (int row = 0; row < 20; ++row)
    text += fmt::format("{{\"n\":{},\"t\":\"{}\",\"v\":[{}]}}\n", row, std::string(row, 'q'), row % 3 ? "1" : "");
  write(dir / "y.jsonl", text);
  for (const auto* memory : {"0 B", "256 MiB"}) check_resumes_anywhere({{"source", dir / "y.jsonl"}, {"memory", memory}});
  CHECK_THROWS_WITH(open({{"source", dir / "y.jsonl"}, {"delimiter", ","}}), Contains("delimiter"));
}

TEST_CASE("JSON lines are read back, in any order and by several threads") {
  const Scratch dir;
  const auto keys = checked_for("jsonl", {});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Random random(seed, 0);
    Values expected(2);
    std::string text;
    for (auto rows = 25 + random.below(200); rows > 0; --rows) {
      const auto number = static_cast<std::int64_t>(random.next_u64());
      expected[0].emplace_back(reinterpret_cast<const char*>(&number), 8);
      expected[1].emplace_back(random.below(50), 'q');
      const auto* form = random.below(2) == 0 ? "{{\"n\": {0}, \"t\": \"{1}\"}}\n" : "{{ \"t\":\"{1}\",\"n\":{0} }}\r\n";
      text += fmt::format(fmt::runtime(form), number, expected[1].back());
    }
    write(dir / "x.jsonl", text);
    const auto file = data::data_file(dir / "x.jsonl");
    const auto content = data::probe_json_lines(file, keys, small_steps);
    const auto source = data::open_json_lines(file, content, false);
    const auto kept = data::open_json_lines(file, content, true);
    REQUIRE_FALSE(source->is_resident());
    REQUIRE(kept->is_resident());
    if (content.fields.front().name == "t") std::swap(expected[0], expected[1]);
    CHECK(all_values(*source) == expected);
    CHECK(all_values(*kept) == expected);
    CHECK(wrong_readings(*source, expected) == 0);
  }
}

TEST_CASE("lines that differ in form from the first ones are errors that name file, row and key") {
  const Scratch dir;
  const std::string first = "{\"a\": 1, \"b\": [1, 2]}\n\n";
  const auto row_3 = Contains("x.jsonl', row 3");
  CHECK(fields(*opened(dir, first + "{\"a\": 2}\n")) == "a i64[], b i64[varies]");
  CHECK_THAT(refusal(dir, first + "{\"b\": [1, 2]}\n", {{"types", "a:i64"}}), row_3 && Contains("the key 'a' is missing"));
  CHECK_THAT(refusal(dir, first + "{\"a\": \"x\", \"b\": [1, 2]}\n"),
             Contains("x.jsonl'") && Contains("row 1 has a number, 1, and row 3 has a text, x"));
  CHECK_THAT(refusal(dir, first + "{\"a\": 2, \"b\": 3}\n"), row_3 && Contains("'b' holds 3"));
  CHECK_THAT(refusal(dir, "{\"a\": 1}\n{\"a\": [1]}\n"),
             Contains("row 1") && Contains("'a' holds 1 here, but an array in other rows"));
  CHECK_THAT(refusal(dir, first + "{\"a\": 2, \"b\": [1, [2]]}\n"), row_3 && Contains("an array of arrays"));
  CHECK_THAT(refusal(dir, first + "{\"a\": 2, \"b\": [1, \"x\"]}\n"), row_3 && Contains("values that are not numbers"));
  CHECK_THAT(refusal(dir, first + "{\"a\": {}, \"b\": [1, 2]}\n"),
             row_3 && Contains("'a' holds an object") && Contains("columns"));
  CHECK_THAT(refusal(dir, first + "{\"a\": 2, \"a\": 3, \"b\": [1, 2]}\n"), row_3 && Contains("'a' occurs twice"));
  CHECK_THAT(refusal(dir, first + "{\"a\": 2.5, \"b\": [1, 2]}\n", {{"types", "a:i64"}}),
             row_3 && Contains("'a' holds 2.5, which is not of type i64"));
  CHECK_THAT(refusal(dir, first + "{\"a\": null, \"b\": [1, 2]}\n", {{"types", "a:i64"}}),
             row_3 && Contains("null") && Contains("NaN"));
  CHECK_THAT(refusal(dir, first + "{\"a\": 2, \"b\": [1, 2]\n"), row_3 && Contains("not valid JSON"));
  CHECK_THAT(refusal(dir, first + "[1]\n"), row_3 && Contains("not a JSON object"));
  CHECK_THAT(refusal(dir, first + "7\n"), row_3 && Contains("not a JSON object"));
  CHECK_THAT(refusal(dir, "{\"c\": " + std::string(9000, '[') + "\n", {{"columns", "a"}}),
             Contains("row 1") && Contains("nested too deeply"));
  CHECK_THAT(refusal(dir, "{}\n"), Contains("have no keys"));
  CHECK_THAT(refusal(dir, "\n"), Contains("has no records"));
  CHECK_THAT(refusal(dir, first, {{"types", "b:text"}}), Contains("arrays of numbers, not text"));
  CHECK_THAT(refusal(dir, first, {{"columns", "c"}}), Contains("columns") && Contains("it has: a, b"));
  CHECK(fields(*opened(dir, "{\"a\": 1, \"meta\": {\"b\": [[]]}}\n", {{"columns", "a"}})) == "a i64[]");
}

TEST_CASE("an array of another length after the probed rows is an error when it is read") {
  const Scratch dir;
  std::string text;
  for (int row = 0; row < 40; ++row)
    text += row == 35 ? "{\"v\": [1, 2]}\n" : row == 36 ? "{\"v\": [1, 2, 3, 4]}\n" : "{\"v\": [1, 2, 3]}\n";
  write(dir / "x.jsonl", text);
  const auto file = data::data_file(dir / "x.jsonl");
  const auto content = data::probe_json_lines(file, checked_for("jsonl", {}), small_steps);
  const auto source = data::open_json_lines(file, content, false);
  data::Column column;
  for (const std::uint64_t sample : {35, 36})
    CHECK_THROWS_WITH(source->read(std::vector{sample}, {&column, 1}),
                      Contains(fmt::format("row {}: the key 'v' holds an array whose length is not 3 values", sample + 1)));
}

TEST_CASE("objects of 300,000 keys, in any order, are read in a time that grows with the keys, not with their square") {
  Scratch dir;
  constexpr std::size_t keys = 300'000;
  std::string in_order, reversed;
  for (std::size_t i = 0; i < keys; ++i) {
    in_order += fmt::format("{}\"k{}\":{}", i == 0 ? "{" : ",", i, i % 10);
    reversed += fmt::format("{}\"k{}\":{}", i == 0 ? "{" : ",", keys - 1 - i, i % 7);
  }
  const auto begin = std::clock();  // CPU time: other processes do not count
  const auto dataset = opened(dir, in_order + "}\n" + reversed + "}\n", {{"memory", "0"}, {"max_record_bytes", "64 MiB"}});
  REQUIRE(dataset->source()->fields().size() == keys);
  std::vector<data::Column> all(keys);
  for (std::size_t i = 0; i < keys; ++i) all[i].field = i;
  dataset->source()->read(std::vector<std::uint64_t>{1}, all);
  std::int64_t first = 0;
  std::memcpy(&first, all.front().values.data(), sizeof first);
  CHECK(first == (keys - 1) % 7);
  CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 15);
}
