// Median stopping (Golovin et al., Google Vizier: A Service for Black-Box Optimization, KDD 2017). Names and defaults
// are those of Ray Tune. A trial stops if its best score so far is below the median of the other trials' mean scores up
// to the same report.
#include <algorithm>
#include <map>

#include "tune/search/quantile.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune::plugins {

namespace {

class Median final : public Scheduler {
 public:
  explicit Median(const Options& options)
      : grace_(options.integer("grace_period")),
        min_trials_(static_cast<std::size_t>(options.integer("min_samples_required"))) {}

  bool wants(std::uint64_t, std::int64_t) const override { return true; }
  void observe(const TrialReport& report) override { scores_[report.trial][report.at.iteration] = report.score; }

  Verdict verdict(const TrialReport& report) const override {
    return {stops(report) ? Verdict::Kind::stop : Verdict::Kind::go_on};
  }

 private:
  bool stops(const TrialReport& report) const {
    if (report.at.iteration < grace_) return false;
    std::vector<double> means;
    for (const auto& [trial, scores] : scores_)
      if (trial != report.trial && scores.rbegin()->first >= report.at.iteration)
        means.push_back(mean(scores, report.at.iteration));
    if (means.size() < min_trials_) return false;
    std::ranges::sort(means);
    constexpr double middle = 0.5;
    return best_of(report) < quantile(means, middle);
  }

  using Scores = std::map<std::int64_t, double>;  ///< by iteration

  /// Returns the mean score from the grace period up to report `until`. Reports before the grace period do not count.
  double mean(const Scores& scores, std::int64_t until) const {
    double sum = 0;
    std::size_t count = 0;
    for (auto at = scores.lower_bound(grace_); at != scores.end() && at->first <= until; ++at, ++count) sum += at->second;
    return count == 0 ? scores.rbegin()->second : sum / static_cast<double>(count);
  }

  double best_of(const TrialReport& report) const {
    auto best = report.score;
    if (const auto mine = scores_.find(report.trial); mine != scores_.end())
      for (const auto& [iteration, score] : mine->second) best = std::max(best, score);
    return best;
  }

  std::int64_t grace_;
  std::size_t min_trials_;
  std::map<std::uint64_t, Scores> scores_;
};

}  // namespace

extern const SchedulerKind median;
const SchedulerKind median{
    .name = "median",
    .title = "the median rule",
    .help = "stops a trial whose best report is below the median of the other trials' means up to the same report",
    .options = {{.key = "grace_period",
                 .type = OptionType::integer,
                 .default_value = "60",
                 .help = "number of reports before which no trial is stopped; means exclude these reports",
                 .range = {.least = 1, .most = 1e15}},
                {.key = "min_samples_required",
                 .type = OptionType::integer,
                 .default_value = "3",
                 .help = "number of other trials that must have reached the same report",
                 .range = {.least = 1, .most = 1e9}}},
    .open = [](const Options& options, const SweepFacts&) -> std::unique_ptr<Scheduler> {
      return std::make_unique<Median>(options);
    }};

}  // namespace trainrt::tune::plugins
