#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/guarded_tree.hpp"
#include "core/options.hpp"
#include "tune/record/sweep_record.hpp"
#include "tune/search/scheduler.hpp"
#include "tune/search/search_space.hpp"
#include "tune/search/searcher.hpp"

namespace trainrt::tune {

/// The checkpoint from which a trial starts after it became a clone. Each cloning begins a new generation of the trial.
struct CloneStart {
  int generation = 1;      ///< 1: the trial is not a clone
  std::string checkpoint;  ///< path in the sweep's directory
};

/// A sweep: its directory and its config. Immutable.
class Sweep {
 public:
  /// Reads the keys of [tune], [tune.space], [tune.mutations] and the scheduler's [tune.NAME]. All other keys belong to
  /// the config of every trial. Throws UsageError with the key, its origin and the valid values.
  explicit Sweep(const Options& config);
  /// Opens the sweep in `directory`, with the config in its sweep.json. Throws UsageError if it is not a sweep.
  static Sweep opened(const std::string& directory);

  /// Creates the directory, or compares the config with the recorded one. The number of trials may grow. Any other
  /// difference is a UsageError that names the difference, unless all trials failed before their first report. Returns
  /// a description of the changes, or "". Any process on any node may call it. `trial_file` is the text of
  /// config_file(), made from common_config().
  std::string begin(const std::string& trial_file) const;

  const std::string& directory() const { return directory_; }
  std::string journal() const { return directory_ + "/journal"; }
  std::string claims() const { return directory_ + "/claims"; }
  /// Path of the config file that all trials share.
  std::string config_file() const { return directory_ + "/trial.ini"; }

  std::uint64_t trials() const { return trials_; }
  /// Returns the name of a trial's run: trial_00017, for generation 2 trial_00017-2.
  std::string name_of(std::uint64_t trial, int generation = 1) const;
  /// Returns the values that the searcher selects for a trial. With a searcher_program(), they are placeholders for the
  /// values that the program returns.
  Params params_of(std::uint64_t trial) const;
  /// Returns the keys that all trials share.
  Options common_config() const;
  /// Returns the keys that one trial has in addition to common_config(): its name and the values `params`. A value that
  /// train.program contains as a placeholder is filled in there. `start` is the checkpoint that the trial starts from if
  /// it is a clone of another trial.
  Options own_config_of(std::uint64_t trial, const Params& params, const CloneStart& start = {}) const;
  /// Returns all keys of one trial: common_config() and own_config_of().
  Options config_of(std::uint64_t trial, const Params& params) const;

  const SearchSpace& space() const { return *space_; }
  /// Returns the dimensions (keys with domains) that a clone may change: those in [tune.mutations]. If this section is
  /// missing, returns the dimensions in [tune.space] with random values, without those on which other keys depend.
  const std::vector<SearchSpace::Dimension>& mutations() const { return mutations_; }
  const Options& trial_config() const { return trial_config_; }              ///< the config without [tune]
  const std::string& searcher_program() const { return searcher_program_; }  ///< "" if not set
  const std::string& metric() const { return metric_; }                      ///< "" if not set
  std::string metric_origin() const;  ///< file and line of tune.metric; "" if not set
  bool minimize() const { return minimize_; }
  /// Returns whether a searcher or a scheduler in the script of a Tuner decides.
  bool is_decided_in_script() const { return config_.has(decided_in_script); }
  bool sets_mode() const { return config_.has("tune.mode"); }  ///< whether the config sets tune.mode
  double score_of(double metric) const;
  std::uint64_t seed() const { return seed_; }
  int max_workers() const { return max_workers_; }        ///< maximum number of ranks of a trial
  int common_workers() const { return common_workers_; }  ///< number of ranks of trials whose values do not set it
  const std::string& place() const { return place_; }     ///< auto, slices or steps
  int concurrent() const { return concurrent_; }  ///< trials that one `trainrt tune` runs at a time; 0: as many as fit
  int max_failures() const { return max_failures_; }
  bool fail_fast() const { return fail_fast_; }              ///< whether a trial that failed for good ends the sweep
  bool makes_clones() const { return scheduler_ == "pbt"; }  ///< whether trials become clones of other trials
  const SchedulerKind& scheduler_kind() const;
  std::unique_ptr<Scheduler> scheduler() const;

 private:
  void take_mutations(const Options& mutations);
  bool is_condition(const std::string& key) const;
  void check_dimension(const SearchSpace::Dimension& dimension) const;
  std::string resume(const std::string& record) const;
  [[noreturn]] void refuse(const std::string& changed) const;
  /// Restores a lost sweep from the mirror if the sweep needs its earlier trials: for a scheduler other than fifo, or
  /// with a searcher program. Does nothing if the mirror has no sweep of this name. Throws UsageError if the mirror has
  /// a damaged or different sweep, or lacks the journal that clones need.
  void require_own_mirror() const;

  Options config_;        ///< the complete config
  Options trial_config_;  ///< without [tune]
  std::string directory_, metric_, scheduler_, searcher_program_, place_;
  bool minimize_ = false, fail_fast_ = false;
  std::optional<SearchSpace> space_;
  std::vector<SearchSpace::Dimension> mutations_;
  const Searcher* searcher_ = nullptr;
  std::uint64_t trials_ = 0, seed_ = 0;
  int common_workers_ = 1, max_workers_ = 1, concurrent_ = 0, max_failures_ = 0;
  std::shared_ptr<const GuardedTree> guarded_;  ///< while it or a copy exists, no link in the directory is followed
};

}  // namespace trainrt::tune
