#include "tune/trials/trial_callback.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "trainer/events/stopping_callback.hpp"
#include "tune/decisions/scheduler_feed.hpp"
#include "tune/record/decision_log.hpp"
#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"
#include "tune/trials/missing_metric.hpp"

namespace trainrt::tune {

namespace {

class TrialCallback final : public trainer::StoppingCallback {
 public:
  TrialCallback(Sweep sweep, std::uint64_t trial, int writer)
      : sweep_(std::move(sweep)), trial_(trial), writer_number_(writer), feed_(sweep_), reader_(sweep_.journal()) {}

  std::string name() const override { return "tune"; }
  Stop stop() override { return stop_; }

  void on_start(const RunInfo&) override { catch_up(); }  // the existing records; reports then read only newer ones

  /// Ends the trial if the scheduler has already decided so, at a report that the checkpoint contains. The trial could
  /// not end then, because its attempt was killed or the trial was paused. A decision at a later report is applied
  /// again at that report.
  void on_restored(std::int64_t iteration) override {
    if (feed_.scheduler().verdict_on_paused(trial_).kind != Verdict::Kind::stop) return;
    const auto generation = history_.trial(trial_).generation;
    for (const auto& decision : history_.decisions())
      if (const auto& at = decision.report.at;
          decision.report.trial == trial_ && at.generation == generation && at.iteration <= iteration)
        stop_ = {reason_of_stop(Verdict::Kind::stop, at.iteration), false};
  }

  void on_report(const ReportedMetrics& metrics, std::span<const ReportedMetrics>) override {
    if (sweep_.metric().empty()) return;
    const auto iteration = static_cast<std::int64_t>(as_real(metrics.at("_training_iteration")));
    const auto score = sweep_.score_of(metric_of(metrics));
    if (!feed_.scheduler().wants(trial_, iteration)) return;
    catch_up();
    const auto& self = history_.trial(trial_);
    const TrialReport report{trial_, {self.generation, iteration}, score};
    const auto earlier = decided(report);
    const auto verdict = earlier ? decide_again(self, report, *earlier) : decide(report);
    if (!earlier || verdict != *earlier) log().write({report, verdict}, reader_.positions());
    obey(verdict, iteration);
  }

 private:
  double metric_of(const ReportedMetrics& metrics) const {
    if (const auto missing = missing_metric_in(metrics, sweep_.metric())) throw UsageError(trial_error(*missing));
    return as_real(metrics.at(sweep_.metric()));
  }

  /// Reads the reports of all trials since the last call.
  void catch_up() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
    feed_.follow(history_);
  }

  Verdict decide(const TrialReport& report) const {
    const auto verdict = feed_.scheduler().verdict(report);
    const bool leaves = verdict.kind == Verdict::Kind::go_on && feed_.scheduler().takes_turns() && another_waits();
    return leaves ? Verdict{Verdict::Kind::pause} : verdict;
  }

  bool another_waits() const {
    if (history_.trials().size() < sweep_.trials()) return true;
    return std::ranges::any_of(history_.trials(), [this](const auto& each) {
      return each.first != trial_ && each.second.state == Trial::State::paused;
    });
  }

  /// Returns the decision at this report if an earlier attempt has already made it. That attempt was interrupted
  /// afterwards.
  std::optional<Verdict> decided(const TrialReport& report) const {
    std::optional<Verdict> last;
    for (const auto& decision : history_.decisions())
      if (decision.report.trial == trial_ && decision.report.at == report.at) last = decision.verdict;
    return last;
  }

  /// Returns the decision at a report for which an earlier attempt has already decided. It is the earlier decision,
  /// with two exceptions:
  /// - After a pause, the scheduler decides whether the trial continues.
  /// - If the donor of a clone had no checkpoint, the trial continues unchanged. With the earlier decision, a train
  ///   function without checkpoints would stop at this report again and again.
  Verdict decide_again(const Trial& self, const TrialReport& report, const Verdict& earlier) const {
    if (earlier.kind == Verdict::Kind::pause) return feed_.scheduler().verdict_on_paused(trial_);
    if (earlier.kind == Verdict::Kind::clone && self.kept_at >= report.at.iteration) return {};
    return earlier;
  }

  void obey(const Verdict& verdict, std::int64_t iteration) {
    if (verdict.kind == Verdict::Kind::go_on) return;
    const bool stops = verdict.kind == Verdict::Kind::stop;
    if (!stops) JournalWriter(sweep_.journal(), writer_number_).append(halt_record(trial_));
    stop_ = {reason_of_stop(verdict.kind, iteration), !stops};
  }

  /// Returns the log of decisions, which is opened at the first decision. Called on rank 0 only.
  DecisionLog& log() {
    if (!log_) log_.emplace(sweep_.journal(), writer_number_);
    return *log_;
  }

  Sweep sweep_;
  std::uint64_t trial_;
  int writer_number_;
  SchedulerFeed feed_;
  JournalReader reader_;
  History history_;
  std::optional<DecisionLog> log_;
  Stop stop_;
};

}  // namespace

std::string reason_of_stop(Verdict::Kind kind, std::int64_t iteration) {
  return fmt::format("the scheduler {} the trial at report {}", kind == Verdict::Kind::stop ? "ends" : "pauses", iteration);
}

std::string trial_variable_of(const std::string& sweep_dir, std::uint64_t trial, int writer) {
  return fmt::format("{}:{}:{}", trial, writer, sweep_dir);
}

std::shared_ptr<Callback> trial_callback(const std::string& value) {
  const auto first = value.find(':'), second = value.find(':', first + 1);
  const auto trial = parse_integer(value.substr(0, first));
  const auto writer =
      second == std::string::npos ? std::nullopt : parse_integer(value.substr(first + 1, second - first - 1));
  if (!trial || !writer || *trial < 0)
    throw UsageError(fmt::format("{} is '{}', which is invalid: only `trainrt tune` may set this variable. Unset it",
                                 trial_variable, value));
  return std::make_shared<TrialCallback>(Sweep::opened(value.substr(second + 1)), static_cast<std::uint64_t>(*trial),
                                         static_cast<int>(*writer));
}

}  // namespace trainrt::tune
