#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/options.hpp>

#include "config/intervals.hpp"
#include "core/options.hpp"

namespace trainrt::config {

/// What a restart on another number of ranks makes of the global batch.
enum class OnResize {
  refuse,             ///< it is an error
  keep_global_batch,  ///< it stays what it was, split over the ranks that are there (elastic)
  keep_batch          ///< a rank's batch stays what it was
};

/// What to run: the config, checked and typed.
struct RunSpec {
  std::string name;
  std::string storage_path;  ///< absolute
  std::string run_dir;       ///< storage_path/name
  std::uint64_t seed = 0;
  std::string function;
  std::string library;                      ///< a user's module, "" = none
  std::string program;                      ///< a command line, "" = none
  std::string stop_signal;                  ///< for the program: "TERM"
  double stop_timeout_s = 0;                ///< that the program may take to end
  Options loop;                             ///< [loop], keys without the section
  Options loop_defaults;                    ///< of keys that the train function declares
  std::map<std::string, Options> data;      ///< [data.NAME] by name
  std::string resume_from;                  ///< a checkpoint of another run, "" = none
  std::vector<std::string> resume_tensors;  ///< patterns of names: what to take of it; empty: everything
  bool accepts_missing_checkpoints = false;
  CheckpointInterval checkpoint_every;
  std::int64_t checkpoint_num_to_keep = 0;  ///< 0 = all
  std::string score_attribute;              ///< the metric that says which checkpoints are best, "" = the newest are
  bool score_is_maximized = true;
  FileLayout checkpoint_layout = FileLayout::node;
  bool checkpoint_async = true;
  std::int64_t checkpoint_max_failed = 0;      ///< in a row; 0 = any number
  std::uint64_t checkpoint_staging_bytes = 0;  ///< a rank
  int checkpoint_io_threads = 0;               ///< a rank
  bool checkpoint_read_back = false;
  enum class Replicas { error, warn, off };
  Replicas replicas = Replicas::error;  ///< what it is if the ranks do not hold the same
  std::int64_t replicas_every = 0;      ///< steps; 0: they are compared at checkpoints only
  int num_workers = 0;                  ///< 0: as many as were launched
  std::string backend;                  ///< "auto", or a comm backend's name
  bool check_calls = false;
  bool deterministic = false;
  GradientOptions gradients;
  std::string gpus_per_worker;  ///< "auto", or a number
  int min_workers = 0;          ///< > 0: a restart may go on with so few
  OnResize on_resize = OnResize::refuse;
  LimitOption hang_timeout;     ///< without a sign of progress
  LimitOption stop_before_end;  ///< of the job's time
  int max_failures = 0;         ///< restarts in one allocation
  int max_requeues = 0;         ///< of one job
  int max_no_progress = 0;      ///< attempts in a row that get no further
  Options stop;                 ///< [stop], keys without the section
  double launch_timeout_s = 0;
  double collective_timeout_s = 0;
  double storage_timeout_s = 0;
  bool detailed_metrics = false;
  bool every_report = false;  ///< is shown, not one from time to time
  /// What [loop] says, else what the train function declares as the default; nullptr if neither does.
  const OptionValue* loop_value(std::string_view key) const;
  std::map<std::string, std::string> texts;  ///< every key as it was given or defaulted, for run.json
};

/// Checks the keys of a config file and command line. Throws UsageError that names key, place and what is valid.
RunSpec make_run_spec(const Options& given);

}  // namespace trainrt::config
