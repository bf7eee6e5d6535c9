#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/guarded_tree.hpp"
#include "core/options.hpp"
#include "tune/search/scheduler.hpp"
#include "tune/search/search_space.hpp"
#include "tune/search/searcher.hpp"

namespace trainrt::tune {

/// Where a trial begins that is the clone of another.
struct CloneStart {
  int generation = 1;      ///< 1: it is none
  std::string checkpoint;  ///< in the sweep's directory
};

/// A sweep: its directory, and what was asked of it. A value that nothing changes.
class Sweep {
 public:
  /// Of a config's keys: [tune], [tune.space], [tune.mutations] and [tune.NAME] of the scheduler; the rest is what every
  /// trial has.
  /// UsageError that names key, place and what is valid.
  explicit Sweep(const Options& config);
  /// Of a sweep's directory, as it was begun.
  static Sweep opened(const std::string& directory);

  /// Makes the directory, or compares with what is there: the number of trials may grow; anything else that differs is a
  /// UsageError that says what, unless all trials have failed before their first report. Returns what has changed, in
  /// words; "" if nothing has. Any process on any node. `trial_file`: common_config() as a file's text, for config_file().
  std::string begin(const std::string& trial_file) const;

  const std::string& directory() const { return directory_; }
  std::string journal() const { return directory_ + "/journal"; }
  std::string claims() const { return directory_ + "/claims"; }
  /// What each trial's config begins with.
  std::string config_file() const { return directory_ + "/trial.ini"; }

  std::uint64_t trials() const { return trials_; }
  /// Of its run: trial_00017; of a clone trial_00017-2 and so on.
  std::string name_of(std::uint64_t trial, int generation = 1) const;
  /// What the searcher says; with a searcher_program() a stand-in, until that has said it.
  Params params_of(std::uint64_t trial) const;
  /// What all trials' runs have.
  Options common_config() const;
  /// What the trial's run has beside that: its name, its parameters, or its program with them filled in. `start`: of a
  /// clone.
  Options own_config_of(std::uint64_t trial, const Params& params, const CloneStart& start = {}) const;
  /// Both together.
  Options config_of(std::uint64_t trial, const Params& params) const;

  const SearchSpace& space() const { return *space_; }
  /// What clones change: [tune.mutations], or else what trials draw.
  const std::vector<SearchSpace::Dimension>& mutations() const { return mutations_; }
  const std::string& searcher_program() const { return searcher_program_; }  ///< "": none
  const std::string& metric() const { return metric_; }                      ///< "": none
  bool less_is_better() const { return less_is_better_; }
  double score_of(double metric) const;
  std::uint64_t seed() const { return seed_; }
  int workers() const { return workers_; }             ///< ranks a trial
  const std::string& place() const { return place_; }  ///< auto, slices or steps
  int concurrent() const { return concurrent_; }       ///< trials at once that one `trainrt tune` runs; 0: as many as fit
  int max_failures() const { return max_failures_; }
  bool fail_fast() const { return fail_fast_; }  ///< a trial that has failed for good ends the sweep
  std::unique_ptr<Scheduler> scheduler() const;

 private:
  void take_mutations(const Options& mutations);
  bool is_condition(const std::string& key) const;
  void check_dimension(const SearchSpace::Dimension& dimension) const;
  std::string go_on(const std::string& record) const;
  [[noreturn]] void refuse(const std::string& changed) const;
  void require_own_mirror() const;

  Options config_;        ///< all of it
  Options trial_config_;  ///< without [tune]
  std::string directory_, metric_, scheduler_, searcher_program_, place_;
  bool less_is_better_ = false, fail_fast_ = false;
  std::optional<SearchSpace> space_;
  std::vector<SearchSpace::Dimension> mutations_;
  const Searcher* searcher_ = nullptr;
  std::uint64_t trials_ = 0, seed_ = 0;
  int workers_ = 1, concurrent_ = 0, max_failures_ = 0;
  std::shared_ptr<const GuardedTree> guarded_;  ///< no link in the directory is followed while this or a copy lives
};

}  // namespace trainrt::tune
