#include "view/rank_lines.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/json_depth.hpp"
#include "io/file.hpp"
#include "rundir/attempt_record.hpp"
#include "view/file_lines.hpp"
#include "view/json_count.hpp"

namespace trainrt::view {

std::string rank_lines_name(int attempt) { return "logs/ranks-attempt-" + rundir::attempt_name(attempt) + ".jsonl"; }

std::optional<RankLine> rank_line_from(std::string_view text) {
  using Json = nlohmann::ordered_json;
  // Lines of ranks that have written nothing are NUL bytes without an end, and stand before the next rank's.
  text.remove_prefix(std::min(text.find_first_not_of('\0'), text.size()));
  if (text.empty() || is_nested_deeper(text, deepest_json)) return std::nullopt;
  const auto json = Json::parse(text, nullptr, false);
  const auto rank = json.is_object() ? count_from(json.value("rank", Json())) : std::nullopt;
  if (!rank) return std::nullopt;
  const auto number = [&](const char* key) -> std::optional<double> {
    const auto value = json.value(key, Json());
    return value.is_number() && value >= 0 ? std::optional(value.get<double>()) : std::nullopt;
  };
  const auto word = [&](const char* key) {
    const auto value = json.value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const auto ended = json.value("ended", Json());
  return RankLine{.rank = *rank,
                  .host = word("host"),
                  .time = word("time"),
                  .phase = word("phase"),
                  .waits_in = word("waits_in"),
                  .step = count_from(json.value("step", Json())).value_or(0),
                  .quiet_s = number("quiet_s"),
                  .cpu_s = number("cpu_s"),
                  .cpus = number("cpus"),
                  .rss = number("rss"),
                  .peak = number("peak"),
                  .read = number("read"),
                  .written = number("written"),
                  .gpu = number("gpu"),
                  .gpu_memory = number("gpu_memory"),
                  .energy_j = number("energy_j"),
                  .ended = ended.is_boolean() && ended.get<bool>()};
}

std::vector<RankLine> rank_lines_of(const std::string& run_dir, int attempt) {
  const auto path = run_dir + "/" + rank_lines_name(attempt);
  std::vector<RankLine> lines;
  if (!io::exists(path)) return lines;
  for_each_line(path, [&](std::string_view text) {
    if (auto line = rank_line_from(text)) lines.push_back(std::move(*line));
  });
  std::ranges::stable_sort(lines, {}, &RankLine::rank);
  return lines;
}

}  // namespace trainrt::view
