// Asynchronous successive halving: Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020; the
// variant that stops trials, with the names and defaults of Ray Tune. A trial that reaches a rung, grace_period *
// reduction_factor^k reports, ends if it is not among the best 1/reduction_factor of those that were there before it.
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
      : seed_(seed), factor_(options.real("reduction_factor")), most_(options.integer("max_t")) {
    const auto grace = options.integer("grace_period");
    if (grace > most_) throw UsageError(fmt::format("[tune.asha]: grace_period is {}, more than max_t = {}", grace, most_));
    for (std::int64_t bracket = 0; bracket < options.integer("brackets"); ++bracket) add_bracket(grace, bracket);
  }

  bool wants(std::uint64_t trial, std::int64_t iteration) const override {
    return iteration >= most_ || rung_of(trial, iteration) != nullptr;
  }

  void observe(const TrialReport& report) override {
    auto* const rung = const_cast<Rung*>(rung_of(report.trial, report.at.iteration));
    if (rung == nullptr) return;
    rung->scores.insert(std::ranges::upper_bound(rung->scores, report.score), report.score);
  }

  Verdict verdict(const TrialReport& report) const override {
    return {stops(report) ? Verdict::Kind::stop : Verdict::Kind::go_on};
  }

 private:
  bool stops(const TrialReport& report) const {
    if (report.at.iteration >= most_) return true;
    const auto* const rung = rung_of(report.trial, report.at.iteration);
    return rung != nullptr && !rung->scores.empty() && report.score < quantile(rung->scores, 1 - 1 / factor_);
  }

  void add_bracket(std::int64_t grace, std::int64_t bracket) {
    auto& rungs = brackets_.emplace_back();
    for (auto k = static_cast<double>(bracket);; ++k) {
      const auto at = static_cast<double>(grace) * std::pow(factor_, k);
      if (at >= static_cast<double>(most_)) return;
      rungs.push_back({static_cast<std::int64_t>(std::ceil(at))});
    }
  }

  /// Trials are spread over the brackets, more over those with more rungs.
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
  std::int64_t most_;
  std::vector<std::vector<Rung>> brackets_;
};

}  // namespace

extern const SchedulerKind asha;
const SchedulerKind asha{
    .name = "asha",
    .help =
        "a trial ends at a rung of reports if it is not among the best that came so far (asynchronous successive halving)",
    .options = {{.key = "max_t",
                 .type = OptionType::integer,
                 .default_value = "100",
                 .help = "reports after which a trial ends in any case",
                 .range = {.least = 1, .most = 1e15}},
                {.key = "grace_period",
                 .type = OptionType::integer,
                 .default_value = "1",
                 .help = "reports that every trial makes",
                 .range = {.least = 1, .most = 1e15}},
                {.key = "reduction_factor",
                 .type = OptionType::real,
                 .default_value = "4",
                 .help = "one of so many trials goes on at a rung; rungs lie so many times further apart",
                 .range = {.least = 1.5, .most = 1e6}},
                {.key = "brackets",
                 .type = OptionType::integer,
                 .default_value = "1",
                 .help = "groups of trials, each of which begins with a later rung",
                 .range = {.least = 1, .most = 20}}},
    .open = [](const Options& options, const SweepFacts& sweep) -> std::unique_ptr<Scheduler> {
      return std::make_unique<Asha>(options, sweep.seed);
    }};

}  // namespace trainrt::tune::plugins
