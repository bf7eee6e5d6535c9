// Conditions on rows, as `where` takes them: each is refused, or has a result for each sample.
#include <array>
#include <cstring>

#include <trainrt/error.hpp>

#include "data/text/row_predicate.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  return {"n > 0 and x < 1.5",
          "not (flag or word == \"a\\\"b\")",
          "pair[1] >= -1e3 or `n` != n",
          "x == x and 'a' < word",
          "((flag))",
          "1 == 1.0",
          "not not flag and n == 9007199254740993"};
}

std::vector<std::string> words() {
  return {"and", "or", "not", "==", "!=", "<=",    ">=", "(",    ")",    "[0]",
          "[9]", "`",  "\"",  "'",  "\\", "1e400", "-0", "flag", "word", "pair"};
}

void read(const std::string& input) {
  static const std::vector<Dataset::Field> fields{{"n", DType::i64, {}},
                                                  {"x", DType::f64, {}},
                                                  {"pair", DType::f16, {2}},
                                                  {"flag", DType::boolean, {}},
                                                  {"word", DType::u8, {}, true}};
  constexpr std::uint64_t samples = 2;
  const auto predicate = unless_refused<UsageError>([&] { return data::RowPredicate(input, fields); });
  if (!predicate) return;
  std::vector<data::Column> columns;
  for (const auto number : predicate->fields()) {
    data::Column column{number, std::vector<std::byte>(16, std::byte{1}), {}};
    if (fields[number].varies) column.ends = {3, 16};
    columns.push_back(std::move(column));
  }
  const auto found = predicate->holds(columns, samples);
  require(found.size() == samples, "a condition has a result for each sample");
  for (const auto each : found) require(each <= 1, "a result is 0 or 1");
}

}  // namespace trainrt::fuzz
