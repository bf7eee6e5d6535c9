#include "rundir/records/rank_status.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_waits_in = 80, max_host = 64;  // bytes
constexpr std::size_t max_ranks = 1'000'000;
constexpr double max_age_s = 1e12, max_joules = 1e18;

/// Returns the first bytes of `text`, at most `max`, without splitting a UTF-8 character.
std::string cut(const std::string& text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xC0U) == 0x80U) --max;
  return text.substr(0, max);
}

double rounded(double number) { return std::round(1000 * number) / 1000; }

std::string text_of(const RankStatus& status) {
  Json json{{"rank", status.rank},        {"host", status.host},   {"time", status.time},
            {"step", status.step},        {"phase", status.phase}, {"quiet_s", rounded(status.quiet_s)},
            {"waits_in", status.waits_in}};
  const auto add_if_known = [&](const char* key, auto number) {
    if (number >= 0) json[key] = number;
  };
  add_if_known("cpu_s", rounded(status.cpu_s));
  json["cpus"] = status.cpus;
  add_if_known("rss", status.rss);
  add_if_known("peak", status.peak);
  add_if_known("read", status.read);
  add_if_known("written", status.written);
  if (status.gpu) json["gpu"] = rounded(*status.gpu);
  if (status.gpu_mean) json["gpu_mean"] = rounded(*status.gpu_mean);
  if (status.gpu_memory) json["gpu_memory"] = *status.gpu_memory;
  if (status.energy_j) json["energy_j"] = std::round(*status.energy_j);
  if (status.energy_j) json["energy_of"] = status.energy_of;
  json["ended"] = status.ended;
  json["age_s"] = rounded(status.age_s);
  if (!status.cpu_list.empty()) json["cpu_list"] = status.cpu_list;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// --- parsing a status ---

/// Returns the number that `json` has for `key`, or `fallback` if the number is missing or not from 0 to `max`.
double number_or(const Json& json, const char* key, double fallback, double max) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return fallback;
  const auto number = found->get<double>();
  return number >= 0 && number <= max ? number : fallback;
}

std::int64_t count_or(const Json& json, const char* key, std::int64_t fallback, double max = 0x1p62) {
  return static_cast<std::int64_t>(number_or(json, key, static_cast<double>(fallback), max));
}

std::optional<double> number_if_known(const Json& json, const char* key, double max) {
  const auto number = number_or(json, key, -1, max);
  return number < 0 ? std::nullopt : std::optional(number);
}

std::string text_or_empty(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string rank_statuses_name(int attempt) { return "logs/ranks-attempt-" + attempt_name(attempt) + ".jsonl"; }

std::string rank_status_line(const RankStatus& status) {
  auto shortened = status;
  shortened.waits_in = cut(status.waits_in, max_waits_in);
  shortened.host = cut(status.host, max_host);
  auto text = text_of(shortened);
  for (auto* const field :
       {&shortened.cpu_list, &shortened.waits_in, &shortened.host, &shortened.phase, &shortened.time, &shortened.energy_of})
    while (text.size() >= rank_status_bytes && !field->empty()) {  // a character that JSON escapes takes several bytes
      *field = field == &shortened.cpu_list ? "" : cut(*field, field->size() / 2);
      text = text_of(shortened);
    }
  text.resize(rank_status_bytes - 1, ' ');
  return text + '\n';
}

std::optional<RankStatus> rank_status_from(std::string_view line, int rank) {
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || number_or(json, "rank", -1, max_ranks) != rank) return std::nullopt;
  RankStatus status{.rank = rank,
                    .host = text_or_empty(json, "host"),
                    .time = text_or_empty(json, "time"),
                    .phase = text_or_empty(json, "phase"),
                    .waits_in = text_or_empty(json, "waits_in")};
  status.step = count_or(json, "step", 0);
  status.quiet_s = number_or(json, "quiet_s", 0, max_age_s);
  status.cpu_s = number_or(json, "cpu_s", -1, max_age_s);
  status.cpus = static_cast<int>(count_or(json, "cpus", 0, std::numeric_limits<int>::max()));
  status.rss = count_or(json, "rss", -1);
  status.peak = count_or(json, "peak", -1);
  status.read = count_or(json, "read", -1);
  status.written = count_or(json, "written", -1);
  status.gpu = number_if_known(json, "gpu", 1);
  status.gpu_mean = number_if_known(json, "gpu_mean", 1);
  if (const auto bytes = count_or(json, "gpu_memory", -1); bytes >= 0) status.gpu_memory = bytes;
  status.energy_j = number_if_known(json, "energy_j", max_joules);
  status.energy_of = text_or_empty(json, "energy_of");
  const auto ended = json.find("ended");
  status.ended = ended != json.end() && ended->is_boolean() && ended->get<bool>();
  status.age_s = number_or(json, "age_s", 0, max_age_s);
  status.cpu_list = text_or_empty(json, "cpu_list");
  return status;
}

std::vector<std::optional<RankStatus>> read_rank_statuses(const std::string& run_dir, int attempt) {
  std::vector<std::optional<RankStatus>> statuses;
  try {
    io::FileReader file(run_dir + "/" + rank_statuses_name(attempt));
    std::string line(rank_status_bytes, '\0');
    while (statuses.size() < max_ranks) {
      const auto count = file.read(std::as_writable_bytes(std::span(line)));
      if (count == 0) break;
      statuses.push_back(rank_status_from(std::string_view(line).substr(0, count), static_cast<int>(statuses.size())));
    }
  } catch (const Error&) {  // the file is missing or unreadable: return the statuses read so far
  }
  return statuses;
}

}  // namespace trainrt::rundir
