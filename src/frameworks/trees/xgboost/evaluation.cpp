#include "frameworks/trees/xgboost/evaluation.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

double value_of(std::string_view word, std::string_view line) {
  const std::string text(word);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw Error(fmt::format("cannot parse XGBoost's evaluation '{}'", line));
  return value;
}

}  // namespace

Evaluation evaluation_from(std::string_view line) {
  Evaluation evaluation;
  auto rest = line;
  for (auto tab = rest.find('\t'); tab != std::string_view::npos; tab = rest.find('\t')) {
    rest.remove_prefix(tab + 1);
    const auto word = rest.substr(0, rest.find('\t'));
    const auto colon = word.rfind(':');
    if (colon == std::string_view::npos) throw Error(fmt::format("cannot parse XGBoost's evaluation '{}'", line));
    evaluation.emplace_back(word.substr(0, colon), value_of(word.substr(colon + 1), line));
  }
  return evaluation;
}

bool is_maximized(std::string_view metric, int major) {
  if (metric == "mape") return false;
  if (major >= 2 && metric.starts_with("pre")) return true;
  return std::ranges::any_of(std::initializer_list<std::string_view>{"auc", "aucpr", "map", "ndcg"},
                             [&](std::string_view begin) { return metric.starts_with(begin); });
}

}  // namespace trainrt::frameworks::trees
