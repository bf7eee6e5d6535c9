#include "config/intervals.hpp"

#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "core/options.hpp"

namespace trainrt::config {

namespace {

std::string seconds_in_words() { return fmt::format(" with N from {} to {}", any_time.least, any_time.most); }

bool every(std::int64_t number, double count) { return number % static_cast<std::int64_t>(count) == 0; }

/// A number and its unit, such as "12" and "s", as texts.
struct Quantity {
  std::string number, unit;
};

std::optional<Quantity> quantity_in(std::string_view text) {
  std::istringstream in{std::string(text)};
  Quantity quantity;
  std::string rest;
  in >> quantity.number >> quantity.unit >> rest;
  return rest.empty() ? std::optional(quantity) : std::nullopt;
}

}  // namespace

std::string LimitOption::form() { return "auto, off, or 'N s'" + seconds_in_words(); }

std::optional<LimitOption> LimitOption::parse(std::string_view text) {
  if (text == "auto") return LimitOption{Kind::automatic, 0};
  if (text == "off") return LimitOption{Kind::off, 0};
  const auto quantity = quantity_in(text);
  if (!quantity || !(quantity->unit.empty() || quantity->unit == "s")) return std::nullopt;
  const auto seconds = parse_real(quantity->number);
  if (!seconds || !any_time.holds(*seconds)) return std::nullopt;
  return LimitOption{Kind::seconds, *seconds};
}

std::string CheckpointInterval::form() { return "auto, off, 'N reports', 'N steps', or 'N s'" + seconds_in_words(); }

std::optional<CheckpointInterval> CheckpointInterval::parse(std::string_view text) {
  if (text == "off") return CheckpointInterval{Unit::off, 1};
  if (text == "auto") return CheckpointInterval{Unit::automatic, 1};
  const auto quantity = quantity_in(text);
  const auto count = quantity ? parse_real(quantity->number) : std::nullopt;
  if (!count) return std::nullopt;
  constexpr Range any_count = {.least = 1, .most = 0x1p53};
  const bool whole = std::floor(*count) == *count && any_count.holds(*count);
  const auto& unit = quantity->unit;
  if (whole && (unit == "reports" || unit == "report")) return CheckpointInterval{Unit::reports, *count};
  if (whole && (unit == "steps" || unit == "step")) return CheckpointInterval{Unit::steps, *count};
  if (unit == "s" && any_time.holds(*count)) return CheckpointInterval{Unit::seconds, *count};
  return std::nullopt;
}

bool CheckpointInterval::due_at_report(std::int64_t iteration) const {
  return unit == Unit::reports && every(iteration, count);
}
bool CheckpointInterval::due_at_step(std::int64_t step) const { return unit == Unit::steps && every(step, count); }
bool CheckpointInterval::due_after(double seconds) const { return unit == Unit::seconds && seconds >= count; }

std::string StepInterval::form() { return "'N steps' or 'off'"; }

std::optional<StepInterval> StepInterval::parse(std::string_view text) {
  if (text == "off") return StepInterval{0};
  const auto quantity = quantity_in(text);
  if (!quantity || (quantity->unit != "steps" && quantity->unit != "step")) return std::nullopt;
  const auto count = parse_integer(quantity->number);
  return count && *count > 0 ? std::optional(StepInterval{*count}) : std::nullopt;
}

}  // namespace trainrt::config
