#include "data/text/row_predicate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include <trainrt/error.hpp>

#include "data/batches/field_scan.hpp"
#include "support/cpp/error_of.hpp"

namespace trainrt::data {

namespace {

template <class T>
Column column_of(std::size_t field, const std::vector<T>& values) {
  Column column{field, std::vector<std::byte>(values.size() * sizeof(T)), {}};
  std::memcpy(column.values.data(), values.data(), column.values.size());
  return column;
}

Column texts_of(std::size_t field, const std::vector<std::string>& texts) {
  Column column{field, {}, {}};
  for (const auto& text : texts) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    column.values.insert(column.values.end(), bytes, bytes + text.size());
    column.ends.push_back(column.values.size());
  }
  return column;
}

const std::vector<Dataset::Field> example_fields{
    {"n", DType::i64, {}},         {"x", DType::f64, {}},          {"pair", DType::f32, {2}},  {"flag", DType::boolean, {}},
    {"word", DType::u8, {}, true}, {"list", DType::i64, {}, true}, {"odd name", DType::i8, {}}};
constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;  // not representable as a double
const double nan_value = std::numeric_limits<double>::quiet_NaN();

/// Returns a view of the values of one sample.
TensorView view_of(const Dataset::Field& field, Column& column, std::size_t sample) {
  if (!field.varies) return {column.values.data() + sample * sample_bytes(field), field.dtype, field.sample_shape};
  const auto first = sample == 0 ? 0 : column.ends[sample - 1];
  const auto count = static_cast<std::int64_t>((column.ends[sample] - first) / size_of(field.dtype));
  return {column.values.data() + first, field.dtype, {count}};
}

/// Returns which of three samples meet the condition, such as "101".
std::string holding(const std::string& text) {
  std::vector<Column> all{column_of<std::int64_t>(0, {1, -2, large}),
                          column_of<double>(1, {0.5, nan_value, 9007199254740992.0}),
                          column_of<float>(2, {1, 2, 3, 4, 5, 6}),
                          column_of<std::uint8_t>(3, {1, 0, 1}),
                          texts_of(4, {"a", "", "b\"c"}),
                          {},
                          column_of<std::int8_t>(6, {-1, 0, 1})};
  const RowPredicate predicate(text, example_fields);
  std::string found;
  for (std::size_t sample = 0; sample < 3; ++sample) {
    std::vector<TensorView> values;
    for (const auto field : predicate.fields()) values.push_back(view_of(example_fields[field], all[field], sample));
    found += predicate.holds(values) ? '1' : '0';
  }
  return found;
}

std::string refusal(const std::string& text) {
  return test::error_of([&] { RowPredicate(text, example_fields); });
}

}  // namespace

TEST_CASE("comparisons select the samples for which they are true") {
  CHECK(holding("n > 0") == "101");
  CHECK(holding("0 < n") == "101");
  CHECK(holding("n == -2") == "010");
  CHECK(holding("n != 1") == "011");
  CHECK(holding("x <= 0.5") == "100");
  CHECK(holding("pair[1] >= 4") == "011");
  CHECK(holding("pair[0] < pair[1]") == "111");
  CHECK(holding("`odd name` == 0") == "010");
  CHECK(holding("word == ''") == "010");
  CHECK(holding(R"(word == "b\"c")") == "001");
  CHECK(holding("word > 'a'") == "001");
  CHECK(holding("flag") == "101");
  CHECK(holding("1 == 1.0") == "111");
}

TEST_CASE("and binds closer than or, and not closer than both") {
  CHECK(holding("flag and n > 5 or word == ''") == "011");
  CHECK(holding("flag and (n > 5 or word == '')") == "001");
  CHECK(holding("not flag or n == 1") == "110");
  CHECK(holding("not (flag or n == 1)") == "010");
  CHECK(holding("not not flag") == "101");
}

TEST_CASE("NaN equals nothing, and numbers compare by their exact values") {
  CHECK(holding("x == x") == "101");
  CHECK(holding("x != x") == "010");
  CHECK(holding("x < 1 or x >= 1") == "101");
  CHECK(holding("n == 9007199254740993") == "001");
  CHECK(holding("n == 9007199254740992.0") == "000");
  CHECK(holding("n > x") == "101");
  CHECK(holding("n < 1e300") == "111");
  CHECK(holding("n > -1e300") == "111");
}

TEST_CASE("an invalid expression is an error with its position") {
  CHECK_THAT(refusal("n >"), Catch::Contains("at character 4 (the end)"));
  CHECK_THAT(refusal("n > > 3"), Catch::Contains("at character 5 ('> 3')"));
  CHECK_THAT(refusal("n > 3 n"), Catch::Contains("at character 7") && Catch::Contains("'and', 'or'"));
  CHECK_THAT(refusal("(n > 3"), Catch::Contains("')' is expected"));
  CHECK_THAT(refusal("n = 3"), Catch::Contains("use =="));
  CHECK_THAT(refusal("m > 3"), Catch::Contains("no field 'm'") && Catch::Contains("n, x, pair"));
  CHECK_THAT(refusal("n > 'a'"), Catch::Contains("cannot be compared"));
  CHECK_THAT(refusal("pair > 3"), Catch::Contains("pair[0]"));
  CHECK_THAT(refusal("pair[2] > 3"), Catch::Contains("2 numbers"));
  CHECK_THAT(refusal("list > 3"), Catch::Contains("vary in length"));
  CHECK_THAT(refusal("n"), Catch::Contains("only a bool"));
  CHECK_THAT(refusal("word == 'a"), Catch::Contains("is not closed"));
  CHECK_THAT(refusal("n > 1x"), Catch::Contains("at character 5"));
  CHECK_THAT(refusal(""), Catch::Contains("at character 1"));
  CHECK_THAT(refusal("3"), Catch::Contains("one of == !="));
  CHECK_THAT(refusal("and"), Catch::Contains("'and' is not a field"));
}

TEST_CASE("the length and depth of an expression are limited") {
  const auto nested = [](std::size_t deep) { return std::string(deep, '(') + "flag" + std::string(deep, ')'); };
  CHECK(holding(nested(90)) == "101");
  CHECK_THAT(refusal(nested(10000)), Catch::Contains("deep"));
  std::string chain = "flag";
  for (int i = 0; i < 5000; ++i) chain += " or flag";
  CHECK(holding(chain) == "101");
  CHECK_THAT(refusal(std::string(70000, ' ')), Catch::Contains("65536"));
}

}  // namespace trainrt::data
