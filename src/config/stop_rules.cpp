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

double number_of(const std::string& key, const OptionValue& value, std::string_view text, std::string_view valid) {
  if (const auto number = parse_real(trim(text)); number && std::isfinite(*number)) return *number;
  throw UsageError(fmt::format("{}: stop.{} is '{}'; it must be {}", value.origin, key, value.text, valid));
}

void check_patience_keys(const Options& stop) {
  std::vector<std::string_view> known;
  for (const auto& option : stop_options().subspan(1)) known.push_back(option.key);
  for (const auto& key : stop.keys())
    if (is_patience_key(key) && std::ranges::find(known, key) == known.end())
      throw UsageError(fmt::format("{}: the key stop.{} is not known; valid: {}, or the name of a metric",
                                   stop.find(key)->origin, key, fmt::join(known, ", ")));
}

}  // namespace

std::span<const OptionSpec> stop_options() {
  static const std::array<OptionSpec, 5> options = {{
      {.key = "METRIC",
       .help =
           "NUMBER or '>= NUMBER', '<= NUMBER': the run is done when a report has it; training_iteration counts reports"},
      {.key = "patience", .type = OptionType::integer, .help = "... or after so many reports without an improvement"},
      {.key = "patience_metric", .help = "the metric that must improve"},
      {.key = "patience_order",
       .default_value = "min",
       .help = "whether less or more is better",
       .choices = {"max", "min"}},
      {.key = "patience_delta", .type = OptionType::real, .default_value = "0", .help = "by how much, to count"},
  }};
  return options;
}

StopRules::StopRules(const Options& stop, std::string_view settings)
    : settings_(static_cast<std::int64_t>(stable_hash(settings))) {
  check_patience_keys(stop);
  for (const auto& key : stop.keys()) {
    if (is_patience_key(key)) continue;
    const auto& value = *stop.find(key);
    const std::string_view text = value.text;
    const bool sign = text.starts_with(">=") || text.starts_with("<=");
    thresholds_.push_back({key, !text.starts_with("<="),
                           number_of(key, value, sign ? text.substr(2) : text, "a number, '>= NUMBER' or '<= NUMBER'")});
  }
  const auto* patience = stop.find("patience");
  if (patience == nullptr) {
    for (const auto& key : stop.keys())
      if (is_patience_key(key))
        throw UsageError(
            fmt::format("{}: stop.{} needs stop.patience, the number of reports to wait", stop.find(key)->origin, key));
    return;
  }
  const auto reports = parse_integer(patience->text);
  if (!reports || *reports < 1)
    throw UsageError(fmt::format("{}: stop.patience is '{}'; it must be a whole number of reports, 1 or more",
                                 patience->origin, patience->text));
  const auto* metric = stop.find("patience_metric");
  if (metric == nullptr)
    throw UsageError(patience->origin + ": stop.patience needs stop.patience_metric, the metric that must improve");
  const auto* order = stop.find("patience_order");
  if (order != nullptr && order->text != "min" && order->text != "max")
    throw UsageError(fmt::format("{}: stop.patience_order is '{}'; it must be min or max", order->origin, order->text));
  const auto* delta = stop.find("patience_delta");
  patience_ = PatienceRule{*reports, metric->text, order != nullptr && order->text == "max",
                           delta == nullptr ? 0 : number_of("patience_delta", *delta, delta->text, "a number")};
}

std::optional<std::string> StopRules::check(std::int64_t iteration, const Metrics& metrics) {
  for (const auto& rule : thresholds_) {
    const auto found = metrics.find(rule.metric);
    if (found == metrics.end() && rule.metric != iteration_name) continue;
    const auto value = found == metrics.end() ? static_cast<double>(iteration) : found->second;
    if (rule.at_least ? value >= rule.value : value <= rule.value)
      return fmt::format("{} = {} {} {}", rule.metric, value, rule.at_least ? ">=" : "<=", rule.value);
  }
  return run_out(metrics);
}

std::optional<std::string> StopRules::run_out(const Metrics& metrics) {
  if (!patience_) return std::nullopt;
  const auto found = metrics.find(patience_->metric);
  if (found == metrics.end()) return std::nullopt;
  const auto value = found->second;
  // A NaN is no improvement, in either order.
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

void StopRules::attach(State& state) {  // also without a rule now: one may come or go between attempts
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
