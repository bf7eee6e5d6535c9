// Parses conditions on rows, the values of the key `where`. Each is refused, or has a result for each sample.
#include <array>
#include <vector>

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
  const auto predicate = unless_refused<UsageError>([&] { return data::RowPredicate(input, fields); });
  if (!predicate) return;
  std::array<std::byte, 16> bytes{};
  bytes.fill(std::byte{1});
  std::vector<TensorView> values;
  for (const auto number : predicate->fields()) {
    const auto& field = fields[number];
    values.push_back({bytes.data(), field.dtype, field.varies ? Shape{3} : field.sample_shape});
  }
  require(predicate->holds(values) == predicate->holds(values), "a condition has the same result each time");
}

}  // namespace trainrt::fuzz
