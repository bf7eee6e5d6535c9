#include "view/rank_states.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/columns.hpp"
#include "core/host.hpp"
#include "core/json_depth.hpp"
#include "core/text.hpp"
#include "io/file.hpp"
#include "rundir/attempt_record.hpp"

namespace trainrt::view {

namespace {

constexpr double silent_after_s = 30, missed_after_s = 15;
constexpr double quiet_after_s = 2;
constexpr double most = 1e18;

std::string text_in(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? plain_text(found->get<std::string>()) : "";
}

std::optional<double> number_in(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const auto number = found->get<double>();
  return number >= 0 && number < most ? std::optional(number) : std::nullopt;
}

double age_s(const RankState& rank, const std::string& now) { return std::max(0.0, seconds_between(rank.time, now)); }

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// What the ranks have in common that one may differ in.
struct Common {
  double age_s = 0;
  std::int64_t step = 0;  ///< the newest
  bool most_wait = false;
};

Common common_of(std::span<const std::optional<RankState>> ranks, const std::string& now) {
  Common common;
  std::vector<double> ages;
  std::size_t waiting_ranks = 0;
  for (const auto& rank : ranks) {
    if (!rank || rank->ended) continue;
    ages.push_back(age_s(*rank, now));
    common.step = std::max(common.step, rank->step);
    if (!rank->waits_in.empty() && rank->quiet_s >= quiet_after_s) ++waiting_ranks;
  }
  common.age_s = median_of(ages);
  common.most_wait = 2 * waiting_ranks >= ages.size() && waiting_ranks > 0;
  return common;
}

std::string place_of(const RankState& rank, const Common& common) {
  const auto behind = common.step - rank.step;
  return fmt::format("in {} at step {}{}", rank.phase, rank.step, behind > 0 ? fmt::format(", {} behind", behind) : "");
}

std::string why_late(const RankState& rank, const Common& common, const std::string& now) {
  if (rank.ended) return {};
  const auto age = age_s(rank, now);
  if (age >= std::max(common.most_wait ? missed_after_s : silent_after_s, 3 * common.age_s))
    return fmt::format("no sign of life for {}: it was {}", clock_text(age), place_of(rank, common));
  const bool is_waited_for = common.most_wait && rank.waits_in.empty() && rank.phase != "checkpoint";
  return is_waited_for
             ? fmt::format("the others wait for it: it is {}, quiet for {:.3g} s", place_of(rank, common), rank.quiet_s)
             : "";
}

}  // namespace

bool is_utc(const std::string& text) try {
  return !text.empty() && seconds_between(text, text) == 0;
} catch (const Error&) {
  return false;
}

std::string rank_states_name(int attempt) { return "logs/ranks-attempt-" + rundir::attempt_name(attempt) + ".jsonl"; }

std::optional<RankState> rank_state_from(std::string_view line) {
  if (line.empty() || line[0] != '{' || is_nested_deeper(line, deepest_json)) return std::nullopt;
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&](const char* key) { return number_in(json, key).value_or(0); };
  const auto ended = json.find("ended");
  RankState rank{.host = text_in(json, "host"),
                 .time = text_in(json, "time"),
                 .step = static_cast<std::int64_t>(number("step")),
                 .phase = text_in(json, "phase"),
                 .quiet_s = number("quiet_s"),
                 .waits_in = text_in(json, "waits_in"),
                 .cpu_s = number("cpu_s"),
                 .cpus = number("cpus"),
                 .memory = number("rss"),
                 .peak_memory = number("peak"),
                 .read = number("read"),
                 .written = number("written"),
                 .gpu = number_in(json, "gpu"),
                 .gpu_memory = number_in(json, "gpu_memory"),
                 .ended = ended != json.end() && ended->is_boolean() && ended->get<bool>()};
  return is_utc(rank.time) ? std::optional(std::move(rank)) : std::nullopt;
}

std::vector<std::optional<RankState>> read_rank_states(const std::string& path, std::size_t most_ranks) {
  if (!io::exists(path)) return {};
  io::FileReader file(path);
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), most_ranks * rank_line_bytes));
  std::string text(bytes, '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text.data(), text.size()))));
  std::vector<std::optional<RankState>> ranks;
  for (std::size_t at = 0; at < text.size(); at += rank_line_bytes)
    ranks.push_back(rank_state_from(std::string_view(text).substr(at, rank_line_bytes)));
  return ranks;
}

std::vector<LateRank> late_ranks(std::span<const std::optional<RankState>> ranks, const std::string& now) {
  const auto common = common_of(ranks, now);
  std::vector<std::pair<double, LateRank>> late;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank]) continue;
    auto why = why_late(*ranks[rank], common, now);
    if (!why.empty()) late.push_back({age_s(*ranks[rank], now) + ranks[rank]->quiet_s, {rank, std::move(why)}});
  }
  std::ranges::stable_sort(late, std::greater(), [](const auto& each) { return each.first; });
  std::vector<LateRank> worst_first;
  for (auto& each : late) worst_first.push_back(std::move(each.second));
  return worst_first;
}

}  // namespace trainrt::view
