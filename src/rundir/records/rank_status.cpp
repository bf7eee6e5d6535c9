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

constexpr std::size_t most_waits_in = 80, most_host = 64;
constexpr std::size_t most_ranks = 1'000'000;  // a file that is longer is none of ours
constexpr double most_age_s = 1e12, most_joules = 1e18;

/// At most so many bytes, with the last character of UTF-8 whole.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

double rounded(double number) { return std::round(1000 * number) / 1000; }

std::string text_of(const RankSign& sign) {
  Json json{{"rank", sign.rank},        {"host", sign.host},   {"time", sign.time},
            {"step", sign.step},        {"phase", sign.phase}, {"quiet_s", rounded(sign.quiet_s)},
            {"waits_in", sign.waits_in}};
  const auto add_if_known = [&](const char* key, auto number) {
    if (number >= 0) json[key] = number;
  };
  add_if_known("cpu_s", rounded(sign.cpu_s));
  json["cpus"] = sign.cpus;
  add_if_known("rss", sign.rss);
  add_if_known("peak", sign.peak);
  add_if_known("read", sign.read);
  add_if_known("written", sign.written);
  if (sign.gpu) json["gpu"] = rounded(*sign.gpu);
  if (sign.gpu_mean) json["gpu_mean"] = rounded(*sign.gpu_mean);
  if (sign.gpu_memory) json["gpu_memory"] = *sign.gpu_memory;
  if (sign.energy_j) json["energy_j"] = std::round(*sign.energy_j);
  if (sign.energy_j) json["energy_of"] = sign.energy_of;
  json["ended"] = sign.ended;
  json["age_s"] = rounded(sign.age_s);
  if (!sign.cpu_list.empty()) json["cpu_list"] = sign.cpu_list;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// --- reading ----------------------------------------------------------------------------------------------------------

/// A number from `least` to `most`; the fallback if there is none.
double number_or(const Json& json, const char* key, double fallback, double most, double least = 0) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return fallback;
  const auto number = found->get<double>();
  return number >= least && number <= most ? number : fallback;
}

std::int64_t whole_or(const Json& json, const char* key, std::int64_t fallback, double most = 0x1p62) {
  return static_cast<std::int64_t>(number_or(json, key, static_cast<double>(fallback), most));
}

std::optional<double> number_if_known(const Json& json, const char* key, double most) {
  const auto number = number_or(json, key, -1, most);
  return number < 0 ? std::nullopt : std::optional(number);
}

std::string text_or_none(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string rank_signs_name(int attempt) { return "logs/ranks-attempt-" + attempt_name(attempt) + ".jsonl"; }

std::string rank_sign_line(const RankSign& sign) {
  auto cut_sign = sign;
  cut_sign.waits_in = cut(sign.waits_in, most_waits_in);
  cut_sign.host = cut(sign.host, most_host);
  auto text = text_of(cut_sign);
  for (auto* const field :
       {&cut_sign.cpu_list, &cut_sign.waits_in, &cut_sign.host, &cut_sign.phase, &cut_sign.time, &cut_sign.energy_of})
    while (text.size() >= rank_sign_bytes && !field->empty()) {  // what JSON escapes takes more room than it has itself
      *field = field == &cut_sign.cpu_list ? "" : cut(*field, field->size() / 2);
      text = text_of(cut_sign);
    }
  text.resize(rank_sign_bytes - 1, ' ');
  return text + '\n';
}

std::optional<RankSign> rank_sign_from(std::string_view line, int rank) {
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || number_or(json, "rank", -1, most_ranks) != rank) return std::nullopt;
  RankSign sign{.rank = rank,
                .host = text_or_none(json, "host"),
                .time = text_or_none(json, "time"),
                .phase = text_or_none(json, "phase"),
                .waits_in = text_or_none(json, "waits_in")};
  sign.step = whole_or(json, "step", 0);
  sign.quiet_s = number_or(json, "quiet_s", 0, most_age_s);
  sign.cpu_s = number_or(json, "cpu_s", -1, most_age_s);
  sign.cpus = static_cast<int>(whole_or(json, "cpus", 0, std::numeric_limits<int>::max()));
  sign.rss = whole_or(json, "rss", -1);
  sign.peak = whole_or(json, "peak", -1);
  sign.read = whole_or(json, "read", -1);
  sign.written = whole_or(json, "written", -1);
  sign.gpu = number_if_known(json, "gpu", 1);
  sign.gpu_mean = number_if_known(json, "gpu_mean", 1);
  if (const auto bytes = whole_or(json, "gpu_memory", -1); bytes >= 0) sign.gpu_memory = bytes;
  sign.energy_j = number_if_known(json, "energy_j", most_joules);
  sign.energy_of = text_or_none(json, "energy_of");
  const auto ended = json.find("ended");
  sign.ended = ended != json.end() && ended->is_boolean() && ended->get<bool>();
  sign.age_s = number_or(json, "age_s", 0, most_age_s);
  sign.cpu_list = text_or_none(json, "cpu_list");
  return sign;
}

std::vector<std::optional<RankSign>> read_rank_signs(const std::string& run_dir, int attempt) {
  std::vector<std::optional<RankSign>> signs;
  try {
    io::FileReader file(run_dir + "/" + rank_signs_name(attempt));
    std::string line(rank_sign_bytes, '\0');
    while (signs.size() < most_ranks) {
      const auto count = file.read(std::as_writable_bytes(std::span(line)));
      if (count == 0) break;
      signs.push_back(rank_sign_from(std::string_view(line).substr(0, count), static_cast<int>(signs.size())));
    }
  } catch (const Error&) {  // no rank has written yet, or the file cannot be read
  }
  return signs;
}

}  // namespace trainrt::rundir
