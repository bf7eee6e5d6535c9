#include "frameworks/trees/xgboost/label_rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

std::string text_of(const Parameters& parameters, std::string_view name) {
  const auto* const value = parameters.find(name);
  return value == nullptr ? "" : *value;
}

float classes_of(const Parameters& parameters) {
  return static_cast<float>(std::strtol(text_of(parameters, "num_class").c_str(), nullptr, 10));
}

/// Returns the rule for class numbers. `accepts_fractions` is true for XGBoost 3.0 and earlier.
LabelRule rule_of_classes(const Parameters& parameters, bool accepts_fractions) {
  const auto classes = classes_of(parameters);
  return {[=](float y) { return y >= 0 && y < classes && (accepts_fractions || std::floor(y) == y); },
          fmt::format("an integer of at least 0 and below num_class = {}", classes)};
}

/// Returns the rule for the labels that metrics evaluate. It accepts fractions, because the metrics truncate them.
LabelRule rule_of_metrics(const Parameters& parameters) {
  const auto metrics = words_of(text_of(parameters, "eval_metric"));
  const auto counts_classes = [](const std::string& name) { return name == "mlogloss" || name == "merror"; };
  const bool has_default = metrics.empty() && parameters.find("disable_default_eval_metric") == nullptr &&
                           text_of(parameters, "objective").starts_with("multi:");
  if (!has_default && std::ranges::none_of(metrics, counts_classes)) return {};
  const auto classes = classes_of(parameters);
  if (classes < 2) return {};
  return {[=](float y) { return y > -1 && y < classes; },
          fmt::format("an integer of at least 0 and below num_class = {}", classes)};
}

/// Returns the rule for ranking. By default (ndcg_exp_gain = true), the gain is 2 to the power of the label, so labels
/// are limited to 31.
LabelRule rule_of_ranking(const Parameters& parameters, const std::string& objective) {
  constexpr float tolerance = 1e-6F, max_label = 31;
  if (objective == "rank:map")
    return {[](float y) { return std::abs(y) < tolerance || std::abs(y - 1) < tolerance; }, "0 or 1"};
  if (objective != "rank:ndcg" || parameters.find("ndcg_exp_gain") != nullptr) return {};
  return {[](float y) { return y >= 0 && std::floor(y) <= max_label && y - std::floor(y) <= tolerance; },
          "an integer from 0 to 31"};
}

}  // namespace

LabelRule label_rule(const Parameters& parameters, int major, int minor, bool is_train) {
  const auto objective = text_of(parameters, "objective");
  if (!is_train) return rule_of_metrics(parameters);
  if (objective.starts_with("multi:")) return rule_of_classes(parameters, major < 3 || (major == 3 && minor == 0));
  if (objective == "binary:logistic" || objective == "binary:logitraw" || objective == "reg:logistic")
    return {[](float y) { return y >= 0 && y <= 1; }, "a number from 0 to 1"};
  if (objective == "count:poisson" || objective == "reg:tweedie")
    return {[](float y) { return y >= 0; }, "a number that is not negative"};
  if (objective == "reg:gamma") return {[](float y) { return y > 0; }, "a positive number"};
  if (objective == "reg:squaredlogerror") return {[](float y) { return y > -1; }, "a number above -1"};
  return major < 2 ? LabelRule() : rule_of_ranking(parameters, objective);
}

void require_labels(const LabelRule& rule, const TableRows& rows, const RowBlock& block) {
  if (!rule.accepts) return;
  const auto wrong = std::ranges::find_if_not(block.label, rule.accepts);
  if (wrong == block.label.end()) return;
  throw UsageError(
      fmt::format("[data.{}] label '{}' of sample {} is {}: with this objective and these metrics, XGBoost needs {}",
                  rows.name(), rows.layout().label,
                  rows.batch().indices()[static_cast<std::size_t>(wrong - block.label.begin())], *wrong, rule.description));
}

}  // namespace trainrt::frameworks::trees
