#include "view/step_windows.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/json_depth.hpp"
#include "io/file.hpp"
#include "rundir/attempt_files.hpp"
#include "view/file_lines.hpp"

namespace trainrt::view {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_bytes = std::uint64_t{128} << 20;

/// Numbers that are negative or no numbers at all are NaN.
std::vector<float> times_from(const Json& line, const char* key) {
  std::vector<float> times;
  const auto found = line.find(key);
  if (found == line.end() || !found->is_array()) return times;
  times.reserve(found->size());
  for (const auto& value : *found) times.push_back(value.is_number() && value >= 0 ? value.get<float>() : NAN);
  return times;
}

std::map<std::string, double> work_from(const Json& line) {
  std::map<std::string, double> work;
  const auto found = line.find("work_us");
  if (found == line.end() || !found->is_object()) return work;
  for (const auto& [kind, time] : found->items())
    if (time.is_number() && time >= 0) work.emplace(kind, time.get<double>());
  return work;
}

std::optional<StepWindow::Slow> slow_from(const Json& line) {
  const auto found = line.find("slow");
  if (found == line.end() || !found->is_object() || !found->value("rank", Json()).is_number_unsigned()) return std::nullopt;
  const auto ratio = found->value("ratio", Json());
  const auto text = [&](const char* key) {
    const auto value = found->value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return StepWindow::Slow{.rank = found->at("rank").get<std::size_t>(),
                          .work = text("work"),
                          .ratio = ratio.is_number() ? ratio.get<double>() : NAN,
                          .why = text("why")};
}

std::uint64_t size_of(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : size;
}

}  // namespace

std::optional<StepWindow> step_window_from(std::string_view text, int attempt) {
  if (is_nested_deeper(text, deepest_json)) return std::nullopt;
  const auto line = Json::parse(text, nullptr, false);
  if (!line.is_object()) return std::nullopt;
  StepWindow window{.attempt = attempt, .time = {}, .own_us = times_from(line, "own_us"), .waits_us = {}, .work_us = {}};
  const auto step = line.value("step", Json());
  if (window.own_us.empty() || !step.is_number_integer()) return std::nullopt;
  window.step = step.get<std::int64_t>();
  if (const auto steps = line.value("steps", Json()); steps.is_number() && steps >= 1) window.steps = steps.get<double>();
  if (const auto time = line.value("time", Json()); time.is_string()) window.time = time.get<std::string>();
  window.waits_us = times_from(line, "waits_us");
  if (window.waits_us.size() != window.own_us.size()) window.waits_us.clear();
  window.work_us = work_from(line);
  window.slow = slow_from(line);
  return window;
}

StepHistory step_history_of(const std::string& run_dir) {
  StepHistory history;
  const auto attempts = rundir::numbers_of_attempts(run_dir);
  std::uint64_t bytes = 0;
  for (const int attempt : attempts) bytes += size_of(run_dir + "/" + rundir::step_times_name(attempt));
  history.read_every = static_cast<std::size_t>(1 + bytes / most_bytes);
  std::size_t count = 0;
  for (const int attempt : attempts) {
    const auto path = run_dir + "/" + rundir::step_times_name(attempt);
    if (!io::exists(path)) continue;
    for_each_line(path, [&](std::string_view line) {
      if (count++ % history.read_every != 0) return;
      if (auto window = step_window_from(line, attempt)) history.windows.push_back(std::move(*window));
    });
  }
  return history;
}

}  // namespace trainrt::view
