#include "tune/trials/common_error.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "tune/record/sweep_history.hpp"
#include "tune/trials/missing_metric.hpp"

namespace trainrt::tune {

namespace {

constexpr std::uint64_t max_compared = 100;

/// Returns the keys that have different values in the first trials, or that only some of these trials set.
std::vector<std::string> varied_keys(const Sweep& sweep) {
  const auto first = sweep.params_of(0);
  std::vector<std::string> keys;
  const auto text_in = [](const Params& params, const std::string& key) {
    const auto found = params.find(key);
    return found == params.end() ? std::string() : found->second;
  };
  for (const auto& dimension : sweep.space().dimensions()) {
    bool is_varied = false;
    for (std::uint64_t trial = 1; trial < std::min(sweep.trials(), max_compared) && !is_varied; ++trial)
      is_varied = text_in(first, dimension.key) != text_in(sweep.params_of(trial), dimension.key);
    if (is_varied) keys.push_back(dimension.key);
  }
  return keys;
}

bool differ_in_all(const std::vector<std::string>& keys, const Params& one, const Params& other) {
  return std::ranges::all_of(keys, [&](const auto& key) {
    const auto here = one.find(key), there = other.find(key);
    return (here == one.end()) != (there == other.end()) || (here != one.end() && here->second != there->second);
  });
}

/// Removes process numbers, which differ between trials, from an error message.
std::string without_processes(std::string words) {
  constexpr std::string_view mark = "process ";
  for (auto at = words.find(mark); at != std::string::npos; at = words.find(mark, at)) {
    at += mark.size();
    const auto end = std::min(words.find_first_not_of("0123456789", at), words.size());
    words.erase(at, end - at);
  }
  return words;
}

/// Returns whether the trial's config was refused: the trial made no report, and a restart would not help.
bool was_refused(const Trial& trial) {
  return trial.state == Trial::State::failed && trial.final_up_to && trial.iterations == 0;
}

}  // namespace

std::optional<std::uint64_t> trial_unlike_first(const Sweep& sweep) {
  const auto keys = varied_keys(sweep);
  const auto first = sweep.params_of(0);
  for (std::uint64_t trial = 1; trial < std::min(sweep.trials(), max_compared); ++trial)
    if (differ_in_all(keys, first, sweep.params_of(trial))) return trial;
  return std::nullopt;
}

CommonError::CommonError(const Sweep& sweep, const History& before) : sweep_(sweep), varied_keys_(varied_keys(sweep)) {
  for (const auto& [number, trial] : before.trials()) {
    if (was_refused(trial)) refused_before_.insert(number);
    if (trial.missing_metric) lacked_before_[number] = trial.missing_metric->metric;
  }
}

bool CommonError::lacks_metric(const History& history, std::uint64_t trial) const {
  const auto& its = history.trial(trial);
  if (its.state != Trial::State::failed || !its.missing_metric || its.missing_metric->metric != sweep_.metric())
    return false;
  const auto before = lacked_before_.find(trial);
  return (before == lacked_before_.end() || before->second != sweep_.metric()) && !has_metric(sweep_, history);
}

std::string CommonError::metric_error(const MissingMetric& missing) const {
  return sweep_error(missing, sweep_.metric_origin());
}

bool CommonError::is_refused(std::uint64_t number, const Trial& trial) const {
  return was_refused(trial) && !refused_before_.contains(number);
}

Params CommonError::params_of(const History& history, std::uint64_t trial) const {
  const auto& own = history.trial(trial).params;
  return own.empty() ? sweep_.params_of(trial) : own;
}

std::string CommonError::of_trial(const History& history, std::uint64_t trial) const {
  const auto& its = history.trial(trial);
  if (lacks_metric(history, trial)) return metric_error(*its.missing_metric);
  if (!is_refused(trial, its)) return {};
  const auto params = params_of(history, trial);
  const auto words = without_processes(its.why);
  for (const auto& [number, other] : history.trials())
    if (number != trial && is_refused(number, other) && without_processes(other.why) == words &&
        differ_in_all(varied_keys_, params, params_of(history, number)))
      return "all trials fail with the same error, so the sweep ends: " + its.why;
  return {};
}

std::string CommonError::of_any(const History& history) const {
  const bool is_over = have_all_failed(sweep_, history) && tune::lacks_metric(sweep_, history);
  for (const auto& [number, trial] : history.trials())
    if (trial.missing_metric && (is_over || lacks_metric(history, number))) return metric_error(*trial.missing_metric);
  std::uint64_t compared = 0;
  for (const auto& [number, trial] : history.trials()) {
    if (!is_refused(number, trial)) continue;
    if (auto text = of_trial(history, number); !text.empty()) return text;
    if (++compared == max_compared) break;
  }
  return {};
}

}  // namespace trainrt::tune
