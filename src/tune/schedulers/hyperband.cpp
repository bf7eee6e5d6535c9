// HyperBand (Li et al., Hyperband: A Novel Bandit-Based Approach to Hyperparameter Optimization, JMLR 2018). Keys and
// their defaults are those of Ray Tune.
//
// Trials fill brackets in the order of their numbers. Each trial of a bracket runs to the next milestone, and waits
// there until all trials of the bracket have reached it. Then the best 1/reduction_factor of these trials continue to
// the following milestone, and the others stop.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "tune/search/scheduler.hpp"

namespace trainrt::tune::plugins {

namespace {

/// Trials that are compared with each other at common milestones.
struct Bracket {
  std::uint64_t first = 0, size = 0;     ///< numbers of its trials; the last bracket may have fewer
  std::vector<std::int64_t> milestones;  ///< numbers of reports, ascending
  std::vector<std::size_t> kept;         ///< number of trials that continue after each milestone but the last
};

/// Returns the bracket in which the number of trials is reduced `halves` times. A trial stops at the last milestone.
Bracket bracket_of(std::uint64_t first, int halves, int kinds, std::int64_t max_reports, double factor) {
  const auto times = std::pow(factor, halves);
  Bracket made{first, static_cast<std::uint64_t>(std::ceil(kinds / (halves + 1.0) * times))};
  auto step = static_cast<std::int64_t>(static_cast<double>(max_reports) / times);
  auto count = static_cast<double>(made.size);
  made.milestones.push_back(step);
  for (int half = 0; half < halves; ++half) {
    count = std::ceil(count / factor);
    made.kept.push_back(static_cast<std::size_t>(count));
    step = std::min(static_cast<std::int64_t>(static_cast<double>(step) * factor), max_reports);
    made.milestones.push_back(step);
  }
  return made;
}

class HyperBand final : public Scheduler {
 public:
  HyperBand(const Options& options, std::uint64_t trials)
      : factor_(options.real("reduction_factor")), max_(options.integer("max_t")), trials_(trials) {
    const int kinds = static_cast<int>(std::lround(std::log(static_cast<double>(max_)) / std::log(factor_))) + 1;
    for (int halves = 0; halves < kinds; ++halves) {
      if (static_cast<double>(max_) / std::pow(factor_, halves) < 1)
        continue;  // its first milestone would be below one report
      band_.push_back(bracket_of(band_size_, halves, kinds, max_, factor_));
      band_size_ += band_.back().size;
    }
  }

  bool wants(std::uint64_t trial, std::int64_t iteration) const override {
    const auto bracket = of(trial);
    return iteration >= bracket.milestones.back() || std::ranges::binary_search(bracket.milestones, iteration);
  }

  void observe(const TrialReport& report) override { scores_[report.trial][report.at.iteration] = report.score; }
  void forget(std::uint64_t trial) override { done_.insert(trial); }

  Verdict verdict(const TrialReport& report) const override {
    auto with_it = *this;
    with_it.observe(report);
    return {with_it.standing(report.trial)};
  }

  Verdict verdict_on_paused(std::uint64_t trial) const override { return {standing(trial)}; }
  std::optional<std::int64_t> max_reports() const override { return max_; }

 private:
  using Scores = std::map<std::int64_t, double>;
  using Trials = std::vector<std::uint64_t>;

  Bracket of(std::uint64_t trial) const {
    const auto band = trial / band_size_;
    auto found =
        *std::ranges::find_if(band_, [&](const auto& each) { return trial % band_size_ < each.first + each.size; });
    found.first += band * band_size_;
    return found;
  }

  /// Returns whether the trial continues, waits or stops, from the reports at the milestones of its bracket.
  Verdict::Kind standing(std::uint64_t trial) const {
    const auto mine = scores_.find(trial);
    if (mine == scores_.end()) return Verdict::Kind::go_on;
    const auto last = mine->second.rbegin()->first;
    const auto bracket = of(trial);
    if (last >= bracket.milestones.back()) return Verdict::Kind::stop;
    auto left = members_of(bracket);
    for (std::size_t i = 0; i < bracket.kept.size() && bracket.milestones[i] <= last; ++i) {
      if (waits_for_others(left, bracket.milestones[i])) return Verdict::Kind::pause;
      left = best_of(left, bracket.milestones[i], bracket.kept[i]);
      if (std::ranges::find(left, trial) == left.end()) return Verdict::Kind::stop;
    }
    return Verdict::Kind::go_on;
  }

  Trials members_of(const Bracket& bracket) const {
    Trials members;
    for (auto trial = bracket.first; trial < std::min(bracket.first + bracket.size, trials_); ++trial)
      members.push_back(trial);
    return members;
  }

  bool has_reached(std::uint64_t trial, std::int64_t milestone) const {
    const auto found = scores_.find(trial);
    return found != scores_.end() && found->second.contains(milestone);
  }

  bool waits_for_others(const Trials& trials, std::int64_t milestone) const {
    return std::ranges::any_of(trials,
                               [&](auto trial) { return !done_.contains(trial) && !has_reached(trial, milestone); });
  }

  /// Returns the best `count` of the trials that reached the milestone.
  Trials best_of(const Trials& trials, std::int64_t milestone, std::size_t count) const {
    std::vector<std::pair<double, std::uint64_t>> ranked;
    for (const auto trial : trials)
      if (has_reached(trial, milestone)) ranked.emplace_back(scores_.at(trial).at(milestone), trial);
    std::ranges::sort(ranked);
    Trials best;
    for (const auto& [score, trial] : std::span(ranked).last(std::min(count, ranked.size()))) best.push_back(trial);
    return best;
  }

  double factor_;
  std::int64_t max_;
  std::uint64_t trials_, band_size_ = 0;
  std::vector<Bracket> band_;  ///< brackets of the first band; all bands are alike
  std::map<std::uint64_t, Scores> scores_;
  std::set<std::uint64_t> done_;
};

}  // namespace

extern const SchedulerKind hyperband;
const SchedulerKind hyperband{.name = "hyperband",
                              .title = "HyperBand",
                              .help =
                                  "compares groups of trials (brackets): at a milestone, the trials of a bracket wait "
                                  "for each other; the best 1/reduction_factor continue",
                              .options = {{.key = "max_t",
                                           .type = OptionType::integer,
                                           .default_value = "81",
                                           .help = "number of reports after which every trial stops",
                                           .range = {.least = 1, .most = 1e15}},
                                          {.key = "reduction_factor",
                                           .type = OptionType::real,
                                           .default_value = "3",
                                           .help = "N: the best 1/N of the trials continue after a milestone, and the next "
                                                   "milestone needs N times as many reports",
                                           .range = {.least = 1.5, .most = 1e6}}},
                              .open = [](const Options& options, const SweepFacts& sweep) -> std::unique_ptr<Scheduler> {
                                return std::make_unique<HyperBand>(options, sweep.trials);
                              }};

}  // namespace trainrt::tune::plugins
