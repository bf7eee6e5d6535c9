// Population based training (Jaderberg et al., Population Based Training of Neural Networks, 2017). Keys and their
// defaults are those of Ray Tune.
//
// Every perturbation_interval reports, a trial among the worst of the population becomes a clone of one of the best
// trials, its donor: it continues from the donor's checkpoint, with values that are close to those of the donor, or
// newly drawn. With `synch`, all trials wait for each other at these reports, and are compared by the same report.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "core/text/text.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune::plugins {

namespace {

constexpr std::uint64_t donors = 2, values = 3;  ///< numbers of two independent random streams, derived from the seed

using Scores = std::map<std::uint64_t, double>;  ///< by trial

/// The parts of the scheduler that are the same with and without `synch` (whether trials wait for each other).
class Pbt : public Scheduler {
 public:
  Pbt(const Options& options, std::uint64_t seed)
      : seed_(seed),
        interval_(options.integer("perturbation_interval")),
        burn_in_(options.integer("burn_in_period")),
        part_(options.real("quantile_fraction")),
        resampled_(options.real("resample_probability")) {
    for (const auto& word : words_in(options.text("perturbation_factors"))) {
      const auto factor = parse_real(word);
      if (!factor || *factor <= 0)
        throw UsageError(fmt::format("{}: [tune.pbt]: perturbation_factors has '{}', which is not a number above 0",
                                     options.find("perturbation_factors")->origin, word));
      factors_.push_back(*factor);
    }
  }

  bool wants(std::uint64_t, std::int64_t iteration) const override {
    return iteration % interval_ == 0 && iteration >= burn_in_;
  }

  bool takes_turns() const override { return true; }

  Params explored(const Params& donor, const std::vector<SearchSpace::Dimension>& mutated, std::uint64_t trial,
                  int generation) const override {
    auto params = donor;
    Random random(mix_seed(seed_, values, trial), static_cast<std::uint64_t>(generation));
    for (const auto& mutation : mutated) {
      const auto found = params.find(mutation.key);
      if (found == params.end()) continue;  // its condition does not hold
      const bool is_drawn = random.uniform() < resampled_;
      found->second = is_drawn ? value_at(mutation.domain, random.uniform()) : near(found->second, mutation.domain, random);
    }
    return params;
  }

 protected:
  struct Quantiles {
    std::vector<std::uint64_t> worst, best;
  };
  Quantiles quantiles(const Scores& scores) const {
    std::vector<std::pair<double, std::uint64_t>> ranked;
    for (const auto& [trial, score] : scores) ranked.emplace_back(score, trial);
    std::ranges::sort(ranked);
    const auto count = quantile_size(ranked.size());
    Quantiles found;
    for (const auto& [score, trial] : std::span(ranked).first(count)) found.worst.push_back(trial);
    for (const auto& [score, trial] : std::span(ranked).last(count)) found.best.push_back(trial);
    return found;
  }

  /// Returns the donor of a trial among the best ones. The choice depends on the compared report of the trial.
  std::uint64_t donor_of(std::uint64_t trial, const ReportPosition& at, const std::vector<std::uint64_t>& best) const {
    Random random(mix_seed(seed_, donors, trial),
                  mix_seed(static_cast<std::uint64_t>(at.generation), static_cast<std::uint64_t>(at.iteration)));
    return best[random.below(best.size())];
  }

 private:
  /// Returns the number of trials in each of the two quantiles: 0 for a single trial, at most half of the trials.
  std::size_t quantile_size(std::size_t trials) const {
    if (trials < 2) return 0;
    const auto wanted = static_cast<std::size_t>(std::ceil(static_cast<double>(trials) * part_));
    return std::min(wanted, trials / 2);
  }

  std::string near(const std::string& value, const Domain& domain, Random& random) const {
    const auto* choice = std::get_if<Choice>(&domain);
    if (choice != nullptr && !choice->is_sample) return neighbour(value, *choice, random);
    const auto number = parse_real(value);
    const auto factor = factors_[random.below(factors_.size())];
    if (!number) return value_at(domain, random.uniform());
    if (choice == nullptr) return value_near(std::get<Interval>(domain), *number * factor);
    const bool is_whole = parse_integer(value).has_value();
    return is_whole ? fmt::format("{:.0f}", std::floor(*number * factor)) : fmt::format("{}", *number * factor);
  }

  static std::string neighbour(const std::string& value, const Choice& choice, Random& random) {
    const auto found = std::ranges::find(choice.values, value);
    if (found == choice.values.end()) return choice.values[random.below(choice.values.size())];
    const auto at = found - choice.values.begin();
    const auto last = static_cast<std::ptrdiff_t>(choice.values.size()) - 1;
    return choice
        .values[static_cast<std::size_t>(std::clamp(at + (random.below(2) == 0 ? -1 : 1), std::ptrdiff_t{0}, last))];
  }

  std::uint64_t seed_;
  std::int64_t interval_, burn_in_;
  double part_, resampled_;
  std::vector<double> factors_;
};

/// Compares a trial with the last report of each other trial that is not done.
class AsynchronousPbt final : public Pbt {
 public:
  using Pbt::Pbt;

  void observe(const TrialReport& report) override { scores_[report.trial] = report.score; }
  void forget(std::uint64_t trial) override {
    scores_.erase(trial);
    done_.insert(trial);
  }

  Verdict verdict(const TrialReport& report) const override {
    auto scores = scores_;
    scores[report.trial] = report.score;
    for (const auto trial : done_) scores.erase(trial);
    const auto [worst, best] = quantiles(scores);
    if (std::ranges::find(worst, report.trial) == worst.end()) return {};
    return {Verdict::Kind::clone, donor_of(report.trial, report.at, best)};
  }

 private:
  Scores scores_;  ///< last score of each trial
  std::set<std::uint64_t> done_;
};

/// Compares trials at a report only when each trial has made this report or is done. Trials that have finished since
/// this report take part, too, so that a comparison does not depend on the time at which it is made. A donor waits
/// until its clones have linked its checkpoint.
class SynchronousPbt final : public Pbt {
 public:
  SynchronousPbt(const Options& options, const SweepFacts& sweep) : Pbt(options, sweep.seed), trials_(sweep.trials) {}

  void observe(const TrialReport& report) override {
    if (is_repeated(report)) return;
    compared_[report.trial] = report.at;
    scores_[report.at.iteration][report.trial] = report.score;
  }

  void observe_cloning(std::uint64_t trial, const ReportPosition& at) override { cloned_[trial] = at; }
  void forget(std::uint64_t trial) override { done_.insert(trial); }

  Verdict verdict(const TrialReport& report) const override {
    if (is_repeated(report)) return {};
    const auto found = scores_.find(report.at.iteration);
    auto scores = found == scores_.end() ? Scores() : found->second;
    scores[report.trial] = report.score;
    return standing(scores, report.trial, report.at);
  }

  Verdict verdict_on_paused(std::uint64_t trial) const override {
    const auto at = compared_.find(trial);
    if (at == compared_.end() || is_cloned(trial, at->second)) return {};
    return standing(scores_.at(at->second.iteration), trial, at->second);
  }

  bool clones_from_compared_report() const override { return true; }

 private:
  /// Returns whether the trial was compared at this report already, before it became a clone. A clone repeats reports
  /// if its donor's checkpoint is older than them.
  bool is_repeated(const TrialReport& report) const { return has_reached(report.trial, report.at.iteration); }

  bool has_reached(std::uint64_t trial, std::int64_t iteration) const {
    const auto at = compared_.find(trial);
    return at != compared_.end() && at->second.iteration >= iteration;
  }

  /// Returns whether the trial has followed the decision to clone it at this report.
  bool is_cloned(std::uint64_t trial, const ReportPosition& at) const {
    const auto found = cloned_.find(trial);
    return found != cloned_.end() && found->second >= at;
  }

  Verdict standing(const Scores& scores, std::uint64_t trial, const ReportPosition& at) const {
    for (std::uint64_t other = 0; other < trials_; ++other)
      if (other != trial && !done_.contains(other) && !has_reached(other, at.iteration)) return {Verdict::Kind::pause};
    const auto [worst, best] = quantiles(scores);
    if (std::ranges::find(worst, trial) != worst.end()) return {Verdict::Kind::clone, donor_of(trial, at, best)};
    const auto waits_for = [&, &best = best](auto other) {
      const auto& theirs = compared_.at(other);
      return theirs.iteration == at.iteration && !done_.contains(other) && !is_cloned(other, theirs) &&
             donor_of(other, theirs, best) == trial;
    };
    return {std::ranges::any_of(worst, waits_for) ? Verdict::Kind::pause : Verdict::Kind::go_on};
  }

  std::uint64_t trials_;
  std::map<std::uint64_t, ReportPosition> compared_;  ///< by trial: its newest report that is compared
  std::map<std::uint64_t, ReportPosition> cloned_;    ///< by trial: argument of the last observe_cloning()
  std::map<std::int64_t, Scores> scores_;             ///< by the number of the report
  std::set<std::uint64_t> done_;
};

}  // namespace

extern const SchedulerKind pbt;
const SchedulerKind pbt{
    .name = "pbt",
    .title = "PBT",
    .help = "turns a trial with a low score into a clone of a better one, with other values (population based training)",
    .options = {{.key = "perturbation_interval",
                 .type = OptionType::integer,
                 .default_value = "60",
                 .help = "number of reports between two comparisons of trials; each needs a checkpoint at a comparison",
                 .range = {.least = 1, .most = 1e15}},
                {.key = "burn_in_period",
                 .type = OptionType::integer,
                 .default_value = "0",
                 .help = "number of reports before the first comparison",
                 .range = {.least = 0, .most = 1e15}},
                {.key = "quantile_fraction",
                 .type = OptionType::real,
                 .default_value = "0.25",
                 .help = "fraction of the trials: this share of the worst trials become clones, and this share of the best "
                         "trials may be cloned",
                 .range = {.least = 1e-9, .most = 0.5}},
                {.key = "resample_probability",
                 .type = OptionType::real,
                 .default_value = "0.25",
                 .help = "probability that a clone draws a new value from its domain; otherwise the new value is close to "
                         "that of the cloned trial",
                 .range = {.least = 0, .most = 1}},
                {.key = "perturbation_factors",
                 .default_value = "1.2, 0.8",
                 .help = "factors: a clone multiplies each number by one of them, and replaces each value of a choice by a "
                         "neighbouring value",
                 .form = "numbers, separated by commas"},
                {.key = "synch",
                 .type = OptionType::boolean,
                 .default_value = "false",
                 .help = "whether trials wait at each comparison until all trials have reached the same report"}},
    .open = [](const Options& options, const SweepFacts& sweep) -> std::unique_ptr<Scheduler> {
      if (options.boolean("synch")) return std::make_unique<SynchronousPbt>(options, sweep);
      return std::make_unique<AsynchronousPbt>(options, sweep.seed);
    }};

}  // namespace trainrt::tune::plugins
