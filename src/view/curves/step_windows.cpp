#include "view/curves/step_windows.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/text/json_depth.hpp"
#include "view/summary/json_count.hpp"

namespace trainrt::view {

namespace {

using Json = nlohmann::ordered_json;

constexpr double max_us = 1e15;  // maximum valid time in microseconds: about 30 years
constexpr double max_steps = 1e15;

/// Returns the times in the array `key` of `line`. Values that are not numbers from 0 to `max_us` become NaN.
std::vector<float> times_from(const Json& line, const char* key) {
  std::vector<float> times;
  const auto found = line.find(key);
  if (found == line.end() || !found->is_array()) return times;
  times.reserve(found->size());
  for (const auto& value : *found)
    times.push_back(value.is_number() && value >= 0 && value <= max_us ? value.get<float>() : NAN);
  return times;
}

std::map<std::string, double> work_from(const Json& line) {
  std::map<std::string, double> work;
  const auto found = line.find("work_us");
  if (found == line.end() || !found->is_object()) return work;
  for (const auto& [kind, time] : found->items())
    if (time.is_number() && time >= 0 && time <= max_us) work.emplace(kind, time.get<double>());
  return work;
}

std::optional<StepWindow::Slow> slow_from(const Json& line) {
  const auto found = line.find("slow");
  if (found == line.end() || !found->is_object()) return std::nullopt;
  const auto rank = count_from(found->value("rank", Json()));
  if (!rank) return std::nullopt;
  const auto ratio = found->value("ratio", Json());
  const auto text = [&](const char* key) {
    const auto value = found->value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return StepWindow::Slow{.rank = static_cast<std::size_t>(*rank),
                          .work = text("work"),
                          .ratio = ratio.is_number() ? ratio.get<double>() : NAN,
                          .why = text("why")};
}

}  // namespace

std::optional<StepWindow> step_window_from(std::string_view text, int attempt) {
  if (is_nested_deeper(text, max_json_depth)) return std::nullopt;
  const auto line = Json::parse(text, nullptr, false);
  if (!line.is_object()) return std::nullopt;
  StepWindow window{.attempt = attempt, .time = {}, .own_us = times_from(line, "own_us"), .waits_us = {}, .work_us = {}};
  const auto step = count_from(line.value("step", Json()));
  if (window.own_us.empty() || !step) return std::nullopt;
  window.step = *step;
  if (const auto steps = line.value("steps", Json()); steps.is_number() && steps >= 1 && steps <= max_steps)
    window.steps = steps.get<double>();
  if (const auto time = line.value("time", Json()); time.is_string()) window.time = time.get<std::string>();
  window.waits_us = times_from(line, "waits_us");
  if (window.waits_us.size() != window.own_us.size()) window.waits_us.clear();
  window.work_us = work_from(line);
  window.slow = slow_from(line);
  return window;
}

}  // namespace trainrt::view
