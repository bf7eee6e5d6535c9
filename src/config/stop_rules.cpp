#include "config/stop_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::config {

namespace {

constexpr std::string_view iteration_name = "training_iteration";

bool is_patience_key(std::string_view key) { return key == "patience" || key.starts_with("patience_"); }

double limit_from(const std::string& key, const OptionValue& value, std::string_view text) {
  if (const auto number = parse_real(trim(text)); number && std::isfinite(*number)) return *number;
  throw UsageError(
      fmt::format("{}: stop.{} is '{}'; it must be a number, '>= NUMBER' or '<= NUMBER'", value.origin, key, value.text));
}

}  // namespace

std::span<const OptionSpec> stop_options() {
  static const std::array<OptionSpec, 5> options = {{
      {.key = "METRIC",
       .help =
           "limit of the metric at which the run ends: NUMBER, '>= NUMBER' or '<= NUMBER'; the metric training_iteration "
           "counts reports"},
      {.key = "patience",
       .type = OptionType::integer,
       .help = "number of reports without an improvement after which the run ends",
       .range = {.least = 1}},
      {.key = "patience_metric", .help = "metric that must improve"},
      {.key = "patience_order",
       .default_value = "min",
       .help = "which values are improvements: max for higher values, min for lower values",
       .choices = {"max", "min"}},
      {.key = "patience_delta",
       .type = OptionType::real,
       .default_value = "0",
       .help = "minimum change that counts as an improvement"},
  }};
  return options;
}

StopRules::StopRules(const Options& stop, std::string_view settings)
    : settings_(static_cast<std::int64_t>(stable_hash(settings))) {
  Options patience;
  for (const auto& key : stop.keys()) {
    const auto& value = *stop.find(key);
    if (is_patience_key(key)) {
      patience.set(key, value);
      continue;
    }
    const std::string_view text = value.text;
    const bool has_sign = text.starts_with(">=") || text.starts_with("<=");
    thresholds_.push_back({key, !text.starts_with("<="), limit_from(key, value, has_sign ? text.substr(2) : text)});
  }
  if (!patience.keys().empty()) take_patience(patience);
}

void StopRules::take_patience(const Options& given) {
  const auto options = checked(given, stop_options().subspan(1), "[stop]");
  for (const auto* key : {"patience", "patience_metric"})
    if (!options.has(key)) {
      const auto other = given.keys().front();
      throw UsageError(
          fmt::format("{}: stop.{} also requires stop.{}, which is missing", given.find(other)->origin, other, key));
    }
  patience_ = PatienceRule{options.integer("patience"), options.text("patience_metric"),
                           options.text("patience_order") == "max", options.real("patience_delta")};
}

std::optional<std::string> StopRules::check(std::int64_t iteration, const Metrics& metrics) {
  for (const auto& rule : thresholds_) {
    const auto found = metrics.find(rule.metric);
    if (found == metrics.end() && rule.metric != iteration_name) continue;
    const auto value = found == metrics.end() ? static_cast<double>(iteration) : found->second;
    if (rule.at_least ? value >= rule.value : value <= rule.value)
      return fmt::format("{} = {} {} {}", rule.metric, value, rule.at_least ? ">=" : "<=", rule.value);
  }
  return check_patience(metrics);
}

std::optional<std::string> StopRules::check_patience(const Metrics& metrics) {
  if (!patience_) return std::nullopt;
  const auto found = metrics.find(patience_->metric);
  if (found == metrics.end()) return std::nullopt;
  const auto value = found->second;
  // A comparison with NaN is false, so a metric that is NaN is never an improvement.
  const bool better = patience_->maximize ? value > best_ + patience_->delta : value < best_ - patience_->delta;
  if (better || (!seen_ && value == value)) {
    seen_ = true;
    best_ = value;
    waited_ = 0;
    return std::nullopt;
  }
  if (++waited_ < patience_->reports) return std::nullopt;
  return fmt::format("{} has not improved on {} for {} reports", patience_->metric, best_, waited_);
}

std::vector<std::string> StopRules::missing(const Metrics& metrics) const {
  std::vector<std::string> names;
  for (const auto& rule : thresholds_)
    if (rule.metric != iteration_name && !metrics.contains(rule.metric)) names.push_back(rule.metric);
  if (patience_ && !metrics.contains(patience_->metric)) names.push_back(patience_->metric);
  return names;
}

// Adds the state of the rules to checkpoints even if there are no rules, because rules may be added or removed between
// attempts.
void StopRules::attach(State& state) {
  state.value("trainrt/stop/end_reason", end_reason_).optional = true;
  state.value("trainrt/stop/ended_under", ended_under_).optional = true;
  state.value("trainrt/stop/seen", seen_).optional = true;
  state.value("trainrt/stop/best", best_).optional = true;
  state.value("trainrt/stop/waited", waited_).optional = true;
}

void StopRules::note_end(const std::string& reason) {
  end_reason_ = reason;
  ended_under_ = settings_;
}

}  // namespace trainrt::config
