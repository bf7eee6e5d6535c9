// Parses a line of result.json, the log of reports.
#include <cmath>

#include "metrics/record_json.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

using metrics::Record;

bool same(const Record::Value& a, const Record::Value& b) {
  const auto* number = std::get_if<double>(&a);
  const auto* other = std::get_if<double>(&b);
  if (number != nullptr && other != nullptr && std::isnan(*number)) return std::isnan(*other);
  return a == b;
}

bool same(const Record& a, const Record& b) {
  if (a.iteration != b.iteration || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (a.values[i].first != b.values[i].first || !same(a.values[i].second, b.values[i].second)) return false;
  return true;
}

}  // namespace

std::vector<std::string> seeds() {
  const double inf = INFINITY;
  return {
      to_json(Record{12,
                     {{"loss", 0.1},
                      {"steps", std::int64_t{1} << 40},
                      {"note", std::string("an \u00e9\n\"b\"")},
                      {"nan", NAN},
                      {"up", inf},
                      {"down", -inf}}}),
      R"({"_training_iteration": 1, "loss": 5e-324, "big": 18446744073709551615, "no": true, "list": [1, {"a": null}]})",
      R"({"_training_iteration": 3, "loss": -0.0, "a": 1, "a": 2})", R"({"_training_iteration": 2, "loss": 0.25, "time)",
      R"({"_training_iteration":1,"x":)" + deep_json() + "}"};
}

std::vector<std::string> words() {
  return {"\"_training_iteration\":", "\"Infinity\"",         "\"-Infinity\"",  "null",   "1e999", "5e-324", "-0.0",
          "9223372036854775808",      "-9223372036854775808", "\\ud83d\\ude00", "\\u0000"};
}

void read(const std::string& input) {
  const auto record = metrics::from_json(input);  // must not throw
  if (!record) return;
  const auto again = metrics::from_json(metrics::to_json(*record));
  require(again && same(*again, *record), "a report that is read and written again stays the same, to the bit");
}

}  // namespace trainrt::fuzz
