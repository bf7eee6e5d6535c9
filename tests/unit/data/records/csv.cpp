#include "data/records/record_formats.hpp"

#include <array>
#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/text/number_text.hpp"
#include "unit/data/record_support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

std::shared_ptr<DatasetImpl> opened(const Scratch& dir, const std::string& text,
                                    std::map<std::string, std::string> keys = {}) {
  write(dir / "x.csv", text);
  keys["source"] = dir / "x.csv";
  return open(keys);
}

/// Returns the message of the UsageError that opened() throws, or "none" if it throws no error.
std::string refusal(const Scratch& dir, const std::string& text, const std::map<std::string, std::string>& keys = {}) {
  try {
    opened(dir, text, keys);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::string fields(const DatasetImpl& dataset) { return data::in_words(dataset.source()->fields()); }

std::vector<std::string> texts(const DatasetImpl& dataset, std::size_t field) {
  return all_values(*dataset.source())[field];
}

template <class T>
std::vector<T> all(const DatasetImpl& dataset, std::size_t field) {
  std::vector<std::uint64_t> samples(dataset.source()->size());
  std::iota(samples.begin(), samples.end(), 0);
  return gathered<T>(dataset, field, samples);
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

/// A table with random values, and its CSV text. The use of quotes, the line ends, the empty lines and the end of the
/// text are random, too.
struct Table {
  std::vector<std::int64_t> whole;
  std::vector<double> real;
  std::vector<std::string> words;
  std::string text;

  explicit Table(std::uint64_t seed) {
    Random random(seed, 0);
    const auto any = [&](std::uint64_t count) { return random.below(count); };
    const std::string end = any(2) == 0 ? "\n" : "\r\n";
    const bool has_quotes = any(3) > 0;
    if (any(2) == 0) text = "\xef\xbb\xbf";
    text += "whole,real,words" + end;
    const auto rows = 1 + any(400);
    for (std::uint64_t row = 0; row < rows; ++row) {
      whole.push_back(static_cast<std::int64_t>(random.next_u64()) >> any(64));
      real.push_back(std::ldexp(static_cast<double>(whole.back()), static_cast<int>(any(60)) - 50) + 0.5);
      words.push_back("word ");
      for (auto length = any(20); length > 0; --length)
        words.back() += has_quotes ? std::array{"a", ",", "\"", "b", "\n", "\r\n", "é"}[any(7)] : "c";
      const bool must = words.back().find_first_of(",\"\n") != std::string::npos;
      text += fmt::format(
          "{},{},{}", has_quotes && any(4) == 0 ? in_quotes(std::to_string(whole.back())) : std::to_string(whole.back()),
          real.back(), must ? in_quotes(words.back()) : words.back());
      if (row + 1 < rows || any(2) == 0) text += end;
      if (any(9) == 0 && row + 1 < rows) text += end;
    }
  }
};

}  // namespace

TEST_CASE("each column of a table is a field with an inferred type") {
  const Scratch dir;
  const auto dataset = opened(dir, "a,b,c,d,e\n1,1.5,true,x y,\n-2,1e3,False,7,\n");
  CHECK(fields(*dataset) == "a i64[], b f64[], c bool[], d u8[varies], e f64[]");
  CHECK(dataset->source()->is_resident());
  CHECK(all<std::int64_t>(*dataset, 0) == std::vector<std::int64_t>{1, -2});
  CHECK(all<double>(*dataset, 1) == std::vector<double>{1.5, 1000});
  CHECK(all<std::uint8_t>(*dataset, 2) == std::vector<std::uint8_t>{1, 0});
  CHECK(texts(*dataset, 3) == std::vector<std::string>{"x y", "7"});
  CHECK(std::isnan(all<double>(*dataset, 4)[1]));
}

TEST_CASE("tables of any form are read back, in any order and by several threads") {
  const Scratch dir;
  const auto keys = checked_for("csv", {{"types", "whole:i64, real:f64, words:text"}});
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Table table(seed);
    write(dir / "t.csv", table.text);
    const auto file = data::data_file(dir / "t.csv");
    const auto content = data::probe_csv(file, keys, small_steps);
    REQUIRE(content.samples == table.whole.size());
    const auto from_places = data::open_csv(file, content, keys, false);
    const auto kept = data::open_csv(file, data::probe_csv(file, keys, {}), keys, true);
    CHECK_FALSE(from_places->is_resident());
    CHECK(kept->is_resident());
    const auto values = all_values(*from_places);
    CHECK(values == all_values(*kept));
    for (std::size_t i = 0; i < table.whole.size(); ++i) {
      REQUIRE(values[0][i] == std::string(reinterpret_cast<const char*>(&table.whole[i]), 8));
      REQUIRE(values[1][i] == std::string(reinterpret_cast<const char*>(&table.real[i]), 8));
      REQUIRE(values[2][i] == table.words[i]);
    }
    CHECK(wrong_readings(*from_places, values) == 0);
    CHECK(wrong_readings(*kept, values) == 0);
  }
}

TEST_CASE("text that is nearly a short number is not read as a number") {
  for (const auto* word : {"1.2.3", "1.2x", "x1.2", "-.", "1..2", "1.-2", ":.5", "/.5", "1./", "1.:", "--1.5", "1.5e"}) {
    CAPTURE(word);
    CHECK_FALSE(data::real_in(word));
    const auto padded = word + std::string(8, '\0');
    const auto* const end = padded.data() + padded.size() - 8;
    double value = 0;
    CHECK(data::read_real(padded.data(), end, value) != end);
  }
}

TEST_CASE("numbers in any notation are read like strtod() does") {
  const Scratch dir;
  Random random(5, 0);
  std::string text = "x\n";
  std::vector<double> expected;
  for (int i = 0; i < 20000; ++i) {
    const auto bits = random.next_u64();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    const auto mantissa = static_cast<std::int64_t>(random.next_u64() >> (random.below(64)));
    const auto word = i % 4 == 0   ? fmt::format("{}", std::isfinite(value) ? value : 0.25)
                      : i % 4 == 3 ? fmt::format("{}.{:0{}}", mantissa % 1000, random.below(100), 2 + random.below(5))
                      : i % 4 == 1 ? fmt::format("{}.{:0{}}", mantissa % 1000, random.below(100000), 5 + random.below(16))
                                   : fmt::format("{}e{}", mantissa, static_cast<int>(random.below(40)) - 20);
    text += word + "\n";
    expected.push_back(std::strtod(word.c_str(), nullptr));
  }
  for (const auto* word : {" 1.5 ", "+2", "-0", ".5", "5.", "1e-400", "-inf", "\"3\""}) text += std::string(word) + "\n";
  const auto dataset = opened(dir, text);
  const auto values = all<double>(*dataset, 0);
  REQUIRE(values.size() == expected.size() + 8);
  CHECK(std::memcmp(values.data(), expected.data(), expected.size() * sizeof(double)) == 0);
  const std::vector<double> last(values.end() - 8, values.end());
  CHECK(last == std::vector<double>{1.5, 2, -0.0, 0.5, 5, 0, -INFINITY, 3});
}

TEST_CASE("the delimiter is given or follows from the file name, and a table may have no header") {
  const Scratch dir;
  write(dir / "x.tsv", "a\tb\n1\t2,5\n");
  CHECK(fields(*open({{"source", dir / "x.tsv"}})) == "a i64[], b u8[varies]");
  CHECK(fields(*opened(dir, "a;b\n1;2\n", {{"delimiter", ";"}})) == "a i64[], b i64[]");
  CHECK(fields(*opened(dir, "1\t2\n", {{"delimiter", "tab"}, {"header", "false"}})) == "c0 i64[], c1 i64[]");
  CHECK(fields(*opened(dir, ",b\n1,2\n")) == "c0 i64[], b i64[]");
  CHECK_THROWS_WITH(opened(dir, "a\n1\n", {{"delimiter", "ab"}}), Contains("delimiter") && Contains("one character"));
}

TEST_CASE("many columns become one vector, except those with given types") {
  const Scratch dir;
  const std::string text = "y,p,q,name,r\n1,2,3,n,4\n5,6.5,,m,8\n";
  const auto dataset = opened(dir, text, {{"vector", "x"}, {"types", "y:i32"}});
  CHECK(fields(*dataset) == "y i32[], x f32[3], name u8[varies]");
  const auto x = gathered<float>(*dataset, 1, {1, 0});
  CHECK(x[0] == 6.5F);
  CHECK(std::isnan(x[1]));
  CHECK(std::vector<float>(x.begin() + 2, x.end()) == std::vector<float>{8, 2, 3, 4});
  CHECK(fields(*opened(dir, "a,b\n1,2\n", {{"vector", "x:u8"}})) == "x u8[2]");
  CHECK_THAT(refusal(dir, "a,x\n1,n\n", {{"vector", "x"}}), Contains("also has a column called 'x'"));
  CHECK_THAT(refusal(dir, "a,b\n1,2\n", {{"vector", "x"}, {"types", "a:i64, b:f32"}}), Contains("no column of numbers"));
  CHECK_THAT(refusal(dir, "a,b\n1,2\n", {{"vector", "x:text"}}), Contains("must be numeric"));
}

TEST_CASE("columns that are not requested are not read, whatever they contain") {
  const Scratch dir;
  const auto dataset = opened(dir, "a,b,c\n1,\xff,3\n4,x,6\n", {{"columns", "c, a"}});
  CHECK(fields(*dataset) == "a i64[], c i64[]");
  CHECK(all<std::int64_t>(*dataset, 1) == std::vector<std::int64_t>{3, 6});
  CHECK_THAT(refusal(dir, "able,b\n1,2\n", {{"columns", "abel"}}), Contains("columns") && Contains("did you mean 'able'"));
  CHECK_THAT(refusal(dir, "able,b\n1,2\n", {{"types", "abel:f32"}}), Contains("types") && Contains("did you mean 'able'"));
  CHECK_THAT(refusal(dir, "a\n1\n", {{"types", "a:f233"}}), Contains("valid types: f64, f32"));
  CHECK_THAT(refusal(dir, "a\n1\n", {{"types", "a"}}), Contains("COLUMN:TYPE"));
}

TEST_CASE("missing values are NaN, and an error for types without NaN") {
  const Scratch dir;
  const auto values = all<double>(*opened(dir, "a,b\n1,NA\n,x\nnull,y\n-999,z\n", {{"na", "null, -999"}}), 0);
  CHECK(values[0] == 1);
  CHECK((std::isnan(values[1]) && std::isnan(values[2]) && std::isnan(values[3])));
  const auto why = refusal(dir, "a,b\n1,2\n3,\n", {{"types", "b:i64"}});
  CHECK_THAT(why, Contains("x.csv', row 3") && Contains("column 'b'") && Contains("missing value") && Contains("f64"));
}

TEST_CASE("a value of another type than its column is an error that names its position") {
  const Scratch dir;
  std::string text = "n,x\n";
  for (int row = 0; row < 40; ++row) text += fmt::format("{},{}\n\n", row, row == 35 ? "1.2.3" : "0.5");
  const auto keys = checked_for("csv", {});
  write(dir / "x.csv", text);
  const auto file = data::data_file(dir / "x.csv");
  const auto content = data::probe_csv(file, keys, small_steps);  // infers from 20 records
  const auto source = data::open_csv(file, content, keys, false);
  data::Column column{1, {}, {}};
  source->read(std::vector<std::uint64_t>{34, 36}, {&column, 1});
  CHECK_THROWS_WITH(source->read(std::vector<std::uint64_t>{35}, {&column, 1}),
                    Contains("x.csv', row 72: column 'x': '1.2.3' is not of type f64") && Contains("types"));
  column.field = 0;
  source->read(std::vector<std::uint64_t>{35}, {&column, 1});
  CHECK_THAT(refusal(dir, "a\n300\n", {{"types", "a:u8"}}), Contains("row 2: column 'a': '300' is not of type u8"));
  CHECK_THAT(refusal(dir, "a\n1.5\n", {{"types", "a:i64"}}), Contains("'1.5' is not of type i64"));
  CHECK_THAT(refusal(dir, "a\n1e39\n", {{"types", "a:f32"}}), Contains("is not of type f32"));
  CHECK_THAT(refusal(dir, "a\n1e999\n", {{"types", "a:f64"}}), Contains("is not of type f64"));
  CHECK_THAT(refusal(dir, "a\nx\xff\n"), Contains("not valid UTF-8"));
}

TEST_CASE("rows that do not fit the table are errors that name the row") {
  const Scratch dir;
  CHECK_THAT(refusal(dir, "a,b\n1,2\n\n3\n"), Contains("x.csv', row 4: it has 1 value, but the first row has 2"));
  CHECK_THAT(refusal(dir, "a,b\n1,2\n1,2,3\n"), Contains("row 3: it has 3 values"));
  CHECK_THAT(refusal(dir, "a,b\n1,\"2\n3,4\n"), Contains("row 2") && Contains("not closed"));
  CHECK_THAT(refusal(dir, "a,b\n1,x\"y\n"), Contains("row 2: unexpected quote") && Contains("quotes = false"));
  CHECK_THAT(refusal(dir, "a,b\n1,\"x\"y\n"), Contains("row 2: unexpected quote"));
  CHECK_THAT(refusal(dir, "a,b\n\"1\n\",\"x\"y\n"), Contains("row 2: unexpected quote"));
  CHECK(texts(*opened(dir, "a\n5\" pipe\n", {{"quotes", "false"}}), 0) == std::vector<std::string>{"5\" pipe"});
  CHECK_THAT(refusal(dir, std::string("a,b\n1,\0\n", 8)), Contains("byte 6 is a NUL"));
  CHECK_THAT(refusal(dir, "a,a\n1,2\n"), Contains("two columns have the name 'a'"));
  CHECK_THAT(refusal(dir, "a,b\n"), Contains("has no records"));
  CHECK_THAT(refusal(dir, ""), Contains("has no records"));
  CHECK_THAT(refusal(dir, "\x1f\x8b\x08\x01rest"), Contains("gunzip"));
  CHECK_THAT(refusal(dir, "a\n1\n" + std::string(200, '7') + "\n", {{"max_record_bytes", "100"}}),
             Contains("row 3: it is longer than 100 bytes (max_record_bytes)"));
  CHECK_THAT(refusal(dir, "a\n\"1\n" + std::string(200, '7') + "\n", {{"max_record_bytes", "100"}}),
             Contains("row 2: it is longer") && Contains("not closed"));
}

TEST_CASE("values in quotes are read with on_error = skip, too") {
  const Scratch dir;
  const auto dataset = opened(dir, "a,b\n1,\"x\"\n2,\"y,\nz\"\n3\n", {{"on_error", "skip"}});
  REQUIRE(dataset->source()->size() == 3);
  std::vector<data::Column> columns{{1, {}, {}}};
  dataset->source()->read(std::vector<std::uint64_t>{0, 1}, columns);
  CHECK(columns[0].ends == std::vector<std::uint64_t>{1, 5});
}

TEST_CASE("quotes are found at any position within 64 bytes") {
  const Scratch dir;
  for (std::size_t before = 1; before < 140; ++before) {
    const std::string filler(before, 'f');
    const auto dataset = opened(dir, "a,b\n" + filler + ",\"x,\r\n\"\"y\"\"\"\r\n1,z\r\n");
    REQUIRE(texts(*dataset, 0) == std::vector<std::string>{filler, "1"});
    REQUIRE(texts(*dataset, 1) == std::vector<std::string>{"x,\r\n\"y\"", "z"});
    CHECK_THAT(refusal(dir, "a,b\n" + filler + "\"x\n"), Contains("unexpected quote"));
    CHECK_THAT(refusal(dir, "a,b\n" + filler + ",\"x\"y\n"), Contains("row 2: unexpected quote"));
  }
}

TEST_CASE("several tables are one dataset, and a changed file is an error") {
  const Scratch dir;
  fs::create_directory(dir / "parts");
  write(dir / "parts/1.csv", "a,b\n1,x\n2,yy\n");
  write(dir / "parts/2.csv", "a,b\n3,zzz\n");
  const auto dataset = open({{"source", dir / "parts"}});
  CHECK(gathered<std::int64_t>(*dataset, 0, {2, 0}) == std::vector<std::int64_t>{3, 1});
  CHECK(texts(*dataset, 1) == std::vector<std::string>{"x", "yy", "zzz"});
  const auto keys = checked_for("csv", {});
  write(dir / "x.csv", "a\n1\n2\n3\n");
  const auto file = data::data_file(dir / "x.csv");
  const auto content = data::probe_csv(file, keys, {});
  const auto source = data::open_csv(file, content, keys, false);
  write(dir / "x.csv", "a\n1 2 33");
  data::Column column;
  CHECK_THROWS_WITH(source->read(std::vector<std::uint64_t>{2}, {&column, 1}), Contains("x.csv"));
}

namespace {

/// Reads a row of a table with `columns` columns, which are chosen in reverse order. Returns the CPU seconds that this
/// took.
double cpu_s_of_wide_row(std::size_t columns) {
  Scratch dir;
  std::string names, values, chosen;
  for (std::size_t i = 0; i < columns; ++i) {
    names += fmt::format("{}c{}", i == 0 ? "" : ",", i);
    chosen += fmt::format("{}c{}", i == 0 ? "" : ",", columns - 1 - i);
    values += i == 0 ? "0" : fmt::format(",{}", i % 10);
  }
  const auto begin = std::clock();
  const auto dataset = opened(dir, names + "\n" + values + "\n" + values + "\n",
                              {{"memory", "0"}, {"max_record_bytes", "64 MiB"}, {"columns", chosen}, {"types", "c7:f32"}});
  REQUIRE(dataset->source()->fields().size() == columns);
  std::vector<data::Column> all(columns);
  for (std::size_t i = 0; i < columns; ++i) all[i].field = i;
  dataset->source()->read(std::vector<std::uint64_t>{1}, all);
  std::int64_t last = 0;
  std::memcpy(&last, all.back().values.data(), sizeof last);
  CHECK(last == 9);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("the time to read a table grows with the number of its columns, not with their square") {
  CHECK(cpu_s_of_wide_row(300'000) <
        40 * cpu_s_of_wide_row(30'000));  // 10 times as many columns: their square is 100 times
}

TEST_CASE("a table of one sample works, and an epoch resumes after any sample") {
  const Scratch dir;
  CHECK(epoch_of(opened(dir, "t\nonly\n")) == std::vector<std::string>{"0:only;"});
  std::string text = "n,t,x\n";
  for (int row = 0; row < 20; ++row)
    text += fmt::format("{},\"{}\",{}\n", row, std::string(row, 'q'), row % 3 ? "1.5" : "");
  write(dir / "y.csv", text);
  for (const auto* memory : {"0 B", "256 MiB"}) check_resumes_anywhere({{"source", dir / "y.csv"}, {"memory", memory}});
  CHECK_THROWS_WITH(open({{"source", dir / "y.csv"}, {"drop_empty_lines", "true"}}), Contains("drop_empty_lines"));
}
