#include "config/intervals.hpp"

#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::config {

namespace {

bool every(std::int64_t number, double count) { return number % static_cast<std::int64_t>(count) == 0; }

}  // namespace

LimitOption parse_limit(const Options& options, std::string_view key) {
  const auto* value = options.find(key);
  if (value->text == "auto") return {LimitOption::Kind::automatic, 0, std::string(key)};
  if (value->text == "off") return {LimitOption::Kind::off, 0, std::string(key)};
  std::istringstream in(value->text);
  std::string number, unit, rest;
  in >> number >> unit >> rest;
  const auto seconds = parse_real(number);
  if (seconds && any_time.holds(*seconds) && (unit.empty() || unit == "s") && rest.empty())
    return {LimitOption::Kind::seconds, *seconds, std::string(key)};
  throw UsageError(fmt::format("{}: {} is '{}'; it must be auto, 'N s' (a number{}) or off", value->origin, key,
                               value->text, any_time.in_words()));
}

bool CheckpointInterval::due_at_report(std::int64_t iteration) const {
  return unit == Unit::reports && every(iteration, count);
}
bool CheckpointInterval::due_at_step(std::int64_t step) const { return unit == Unit::steps && every(step, count); }
bool CheckpointInterval::due_after(double seconds) const { return unit == Unit::seconds && seconds >= count; }

CheckpointInterval parse_checkpoint_interval(const OptionValue& value) {
  using Unit = CheckpointInterval::Unit;
  if (value.text == "off") return {Unit::off, 1};
  if (value.text == "auto") return {Unit::automatic, 1};
  std::istringstream in(value.text);
  std::string number, unit, rest;
  in >> number >> unit >> rest;
  const auto count = parse_real(number);
  constexpr Range any_count = {.least = 1, .most = 0x1p53};
  if (count && rest.empty()) {
    const bool whole = std::floor(*count) == *count && any_count.holds(*count);
    if (whole && (unit == "reports" || unit == "report")) return {Unit::reports, *count};
    if (whole && (unit == "steps" || unit == "step")) return {Unit::steps, *count};
    if (unit == "s" && any_time.holds(*count)) return {Unit::seconds, *count};
  }
  throw UsageError(value.origin + ": checkpoint.every is '" + value.text +
                   "'; it must be 'N reports', 'N steps', 'N s' (a number" + any_time.in_words() + "), 'auto' or 'off'");
}

std::int64_t parse_steps(const OptionValue& value, std::string_view key) {
  if (value.text == "off") return 0;
  std::istringstream in(value.text);
  std::string number, unit, rest;
  in >> number >> unit >> rest;
  const auto count = parse_integer(number);
  if (count && *count > 0 && (unit == "steps" || unit == "step") && rest.empty()) return *count;
  throw UsageError(value.origin + ": " + std::string(key) + " is '" + value.text + "'; it must be 'N steps' or 'off'");
}

}  // namespace trainrt::config
