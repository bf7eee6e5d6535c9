// Asynchronous successive halving (Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020), in
// the variant that stops trials. The keys have the names and defaults of Ray Tune.
//
// A rung is a number of reports: grace_period * reduction_factor^k. A trial that reaches a rung stops unless it is
// among the best 1/reduction_factor of the trials that have reached the rung so far.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "tune/search/quantile.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune::plugins {

namespace {

struct Rung {
  std::int64_t iteration;
  std::vector<double> scores = {};  ///< sorted
};

class Asha final : public Scheduler {
 public:
  Asha(const Options& options, std::uint64_t seed)
      : seed_(seed), factor_(options.real("reduction_factor")), max_(options.integer("max_t")) {
    const auto grace = options.integer("grace_period");
    if (grace > max_)
      throw UsageError(fmt::format("{}: [tune.asha]: grace_period = {} is more than max_t = {}",
                                   options.find("grace_period")->origin, grace, max_));
    for (std::int64_t bracket = 0; bracket < options.integer("brackets"); ++bracket) add_bracket(grace, bracket);
  }

  bool wants(std::uint64_t trial, std::int64_t iteration) const override {
    return iteration >= max_ || rung_of(trial, iteration) != nullptr;
  }

  void observe(const TrialReport& report) override {
    auto* const rung = const_cast<Rung*>(rung_of(report.trial, report.at.iteration));
    if (rung == nullptr) return;
    rung->scores.insert(std::ranges::upper_bound(rung->scores, report.score), report.score);
  }

  Verdict verdict(const TrialReport& report) const override {
    return {stops(report) ? Verdict::Kind::stop : Verdict::Kind::go_on};
  }

  std::optional<std::int64_t> max_reports() const override { return max_; }

 private:
  bool stops(const TrialReport& report) const {
    if (report.at.iteration >= max_) return true;
    const auto* const rung = rung_of(report.trial, report.at.iteration);
    return rung != nullptr && !rung->scores.empty() && report.score < quantile(rung->scores, 1 - 1 / factor_);
  }

  void add_bracket(std::int64_t grace, std::int64_t bracket) {
    auto& rungs = brackets_.emplace_back();
    for (auto k = static_cast<double>(bracket);; ++k) {
      const auto at = static_cast<double>(grace) * std::pow(factor_, k);
      if (at >= static_cast<double>(max_)) return;
      rungs.push_back({static_cast<std::int64_t>(std::ceil(at))});
    }
  }

  /// Returns the rungs of a trial's bracket. Brackets with more rungs get more trials.
  const std::vector<Rung>& bracket_of(std::uint64_t trial) const {
    std::size_t all = 0;
    for (const auto& rungs : brackets_) all += rungs.size() + 1;
    auto left = Random(mix_seed(seed_, 1), trial).below(all);
    for (const auto& rungs : brackets_) {
      if (left < rungs.size() + 1) return rungs;
      left -= rungs.size() + 1;
    }
    return brackets_.front();
  }

  const Rung* rung_of(std::uint64_t trial, std::int64_t iteration) const {
    const auto& rungs = brackets_.size() == 1 ? brackets_.front() : bracket_of(trial);
    const auto found = std::ranges::find(rungs, iteration, &Rung::iteration);
    return found == rungs.end() ? nullptr : &*found;
  }

  std::uint64_t seed_;
  double factor_;
  std::int64_t max_;
  std::vector<std::vector<Rung>> brackets_;
};

}  // namespace

extern const SchedulerKind asha;
const SchedulerKind asha{
    .name = "asha",
    .title = "ASHA",
    .help =
        "stops, at certain numbers of reports (rungs), each trial that is not among the best trials so far (asynchronous "
        "successive halving)",
    .options =
        {{.key = "max_t",
          .type = OptionType::integer,
          .default_value = "100",
          .help = "number of reports after which every trial stops",
          .range = {.least = 1, .most = 1e15}},
         {.key = "grace_period",
          .type = OptionType::integer,
          .default_value = "1",
          .help = "number of reports before which no trial is stopped",
          .range = {.least = 1, .most = 1e15}},
         {.key = "reduction_factor",
          .type = OptionType::real,
          .default_value = "4",
          .help = "N: the best 1/N of the trials continue after a rung, and the next rung needs N times as many reports",
          .range = {.least = 1.5, .most = 1e6}},
         {.key = "brackets",
          .type = OptionType::integer,
          .default_value = "1",
          .help =
              "number of groups of trials; the first rung of each group is one rung later than that of the previous group",
          .range = {.least = 1, .most = 20}}},
    .open = [](const Options& options, const SweepFacts& sweep) -> std::unique_ptr<Scheduler> {
      return std::make_unique<Asha>(options, sweep.seed);
    }};

}  // namespace trainrt::tune::plugins
