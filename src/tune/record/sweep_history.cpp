#include "tune/record/sweep_history.hpp"

#include <algorithm>

#include <trainrt/error.hpp>
#include <trainrt/result.hpp>

namespace trainrt::tune {

namespace {

/// Returns whether the reports of a run contain `metric` as a number.
bool run_has_metric(const std::string& run_dir, const std::string& metric) try {
  const auto result = Result::from_path(run_dir);
  const auto column = result.columns.find(metric);
  return column != result.columns.end() && !std::holds_alternative<std::vector<std::string>>(column->second);
} catch (const Error&) {  // the trial has created no run directory
  return false;
}

}  // namespace

History history_of(const Sweep& sweep) {
  History history;
  JournalReader reader(sweep.journal());
  reader.read([&](int writer, const std::string& json) { history.take(writer, json); });
  return history;
}

std::uint64_t trials_done(const Sweep& sweep, const History& history) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(history.trials(), [&](const auto& each) { return each.second.is_done(sweep.max_failures()); }));
}

bool have_all_failed(const Sweep& sweep, const History& history) {
  if (history.trials().empty() || trials_done(sweep, history) < sweep.trials()) return false;
  return std::ranges::all_of(history.trials(), [](const auto& each) { return each.second.state == Trial::State::failed; });
}

bool has_metric(const Sweep& sweep, const History& history) {
  return std::ranges::any_of(history.trials(), [&](const auto& each) {
    const auto& [number, trial] = each;
    if (trial.last || trial.best || !trial.reports.empty()) return true;
    return trial.state == Trial::State::running &&
           run_has_metric(sweep.directory() + "/" + sweep.name_of(number, trial.generation), sweep.metric());
  });
}

bool lacks_metric(const Sweep& sweep, const History& history) {
  const auto has_failed_so = [&](const auto& each) {
    const auto& trial = each.second;
    return trial.state == Trial::State::failed && trial.missing_metric && trial.missing_metric->metric == sweep.metric();
  };
  return std::ranges::any_of(history.trials(), has_failed_so) && !has_metric(sweep, history);
}

}  // namespace trainrt::tune
