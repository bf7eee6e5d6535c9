// Fuzzes the JSON form of a preprocessor, which comes with a checkpoint or from a user.
#include <trainrt/preprocessor.hpp>

#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  const auto one = [](const std::string& name, const std::string& parameters, const std::string& stats) {
    return R"json({"preprocessor": ")json" + name + R"json(", "version": 1, "parameters": {)json" + parameters + "}" +
           (stats.empty() ? "" : ", \"stats\": {" + stats + "}") + "}";
  };
  const auto scaler = one("StandardScaler", R"json("columns": ["a"])json", R"json("mean(a)": 2.5, "std(a)": 0.5)json");
  return {scaler,
          one("Chain", "\"preprocessors\": [" + scaler + "]", ""),
          one("OneHotEncoder", R"json("columns": ["a"], "max_categories": {"a": 3})json",
              R"json("unique_values(a)": ["x", 1, 2.5])json"),
          one("CountVectorizer", R"json("columns": ["t"])json", R"json("token_counts(t)": [["w", 2]])json"),
          one("UniformKBinsDiscretizer", R"json("columns": ["a"], "bins": {"a": 2})json", R"json("a": [0, 1, 2])json"),
          one("CustomKBinsDiscretizer", R"json("columns": ["a"], "bins": [0, 1])json", ""),
          one("SimpleImputer", R"json("columns": ["a"], "strategy": "constant", "fill_value": 3)json", ""),
          one("PowerTransformer", R"json("columns": ["a"], "power": 0.5)json", ""),
          one("Normalizer", R"json("columns": ["a"], "norm": "l1")json", ""),
          one("FeatureHasher", R"json("columns": ["a"], "num_features": 8, "output_column": "h")json", ""),
          one("HashingVectorizer", R"json("columns": ["t"], "num_features": 8)json", ""),
          one("Concatenator", R"json("columns": ["a"], "dtype": "i8", "flatten": true)json", ""),
          one("RobustScaler", R"json("columns": ["a"])json",
              R"json("low_quantile(a)": 0, "median(a)": 1, "high_quantile(a)": null)json"),
          deep_json()};
}

std::vector<std::string> words() {
  return {"\"preprocessor\"",
          "\"Chain\"",
          "\"columns\"",
          "\"stats\"",
          "\"version\"",
          "null",
          "true",
          "{}",
          "[]",
          "1e999",
          "-1",
          "\"LabelEncoder\"",
          "\"label_column\"",
          "\"MultiHotEncoder\"",
          "\"output_columns\"",
          "18446744073709551615"};
}

void read(const std::string& input) {
  const auto found = unless_refused<UsageError>([&] { return Preprocessor::from_json(input); });
  if (!found) return;
  const auto text = found->to_json();
  require(Preprocessor::from_json(text).to_json() == text,
          "the JSON of a loaded preprocessor loads as the same preprocessor");
  Table table;
  table.add("a", std::vector<double>{1, -2.5, 1e300});
  table.add("t", std::vector<std::string>{"w x", "", "a"});
  table.add("b", std::vector<std::int64_t>{1, 2, 3});
  unless_refused([&] { return found->transform(table), true; });
}

}  // namespace trainrt::fuzz
