#include "tune/trial_callback.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "core/text.hpp"
#include "trainer/stopping_callback.hpp"
#include "tune/history.hpp"
#include "tune/sweep.hpp"

namespace trainrt::tune {

namespace {

class TrialCallback final : public trainer::StoppingCallback {
 public:
  TrialCallback(Sweep sweep, std::uint64_t trial, int writer)
      : sweep_(std::move(sweep)),
        trial_(trial),
        writer_number_(writer),
        scheduler_(sweep_.scheduler()),
        reader_(sweep_.journal()) {}

  std::string name() const override { return "tune"; }
  std::string stop_reason() override { return reason_; }

  void on_start(const RunInfo&) override { catch_up(); }  // what is long; reports read what is new

  void on_report(const ReportedMetrics& metrics, std::span<const ReportedMetrics>) override {
    const auto iteration = static_cast<std::int64_t>(as_real(metrics.at("_training_iteration")));
    const auto score = sweep_.score_of(metric_of(metrics));
    if (!scheduler_->wants(trial_, iteration)) return;
    catch_up();
    const TrialReport report{trial_, iteration, score};
    const auto earlier = decided(report);
    const bool stops = earlier ? *earlier : scheduler_->stops(report);
    if (!earlier) writer().append(decision_record(trial_, iteration, score, stops, newly_read()), true);
    if (stops) reason_ = fmt::format("the scheduler ends the trial at report {}", iteration);
  }

 private:
  double metric_of(const ReportedMetrics& metrics) const {
    const auto found = metrics.find(sweep_.metric());
    if (found != metrics.end() && !std::holds_alternative<std::string>(found->second)) return as_real(found->second);
    std::vector<std::string> names;
    for (const auto& [name, value] : metrics)
      if (!name.starts_with('_') && !std::holds_alternative<std::string>(value)) names.push_back(name);
    throw UsageError(fmt::format("tune.metric is '{}', and the report has no number of that name{}; it has: {}",
                                 sweep_.metric(), did_you_mean(sweep_.metric(), names), join(names)));
  }

  /// Gives the scheduler what all trials have reported meanwhile, each report once.
  void catch_up() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
    for (const auto& [number, trial] : history_.trials())
      for (auto at = trial.reports.upper_bound(seen_[number]); at != trial.reports.end(); ++at) {
        scheduler_->observe({number, at->first, at->second});
        seen_[number] = at->first;
      }
  }

  /// Where the journal was read further than for the writer's last decision.
  Positions newly_read() const {
    auto read = reader_.positions();
    const auto before = history_.read_by(writer_number_);
    std::erase_if(read, [&](const auto& each) {
      const auto then = before.find(each.first);
      return then != before.end() && then->second == each.second;
    });
    return read;
  }

  /// What an earlier attempt decided of this report, which it did not come to save: that stays as it is.
  std::optional<bool> decided(const TrialReport& report) const {
    for (const auto& decision : history_.decisions())
      if (decision.trial == trial_ && decision.iteration == report.iteration) return decision.stops;
    return std::nullopt;
  }

  JournalWriter& writer() {
    if (!writer_) writer_.emplace(sweep_.journal(), writer_number_);
    return *writer_;
  }

  Sweep sweep_;
  std::uint64_t trial_;
  int writer_number_;
  std::unique_ptr<Scheduler> scheduler_;
  JournalReader reader_;
  History history_;
  std::map<std::uint64_t, std::int64_t> seen_;  ///< the last report that the scheduler has, by trial
  std::optional<JournalWriter> writer_;
  std::string reason_;
};

}  // namespace

std::string trial_variable_of(const std::string& sweep_dir, std::uint64_t trial, int writer) {
  return fmt::format("{}:{}:{}", trial, writer, sweep_dir);
}

std::shared_ptr<Callback> trial_callback(const std::string& value) {
  const auto first = value.find(':'), second = value.find(':', first + 1);
  const auto trial = parse_integer(value.substr(0, first));
  const auto writer =
      second == std::string::npos ? std::nullopt : parse_integer(value.substr(first + 1, second - first - 1));
  if (!trial || !writer || *trial < 0)
    throw UsageError(
        fmt::format("{} is '{}': `trainrt tune` sets it for its trials, and nobody else should", trial_variable, value));
  return std::make_shared<TrialCallback>(Sweep::opened(value.substr(second + 1)), static_cast<std::uint64_t>(*trial),
                                         static_cast<int>(*writer));
}

}  // namespace trainrt::tune
