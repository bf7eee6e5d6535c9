#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/export.hpp>
#include <trainrt/framework_meeting.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/random.hpp>
#include <trainrt/state.hpp>

namespace trainrt {

/// What a [loop] key can be read as.
using LoopValue = std::variant<std::int32_t, std::int64_t, double, bool, std::string>;

/// What a train function sees of the run. It lives as long as the train function; only its thread may use it.
///
/// step(), report(), stop_point(), restore() and save() are collective. When the run has to stop (signal, the end of the
/// job's time), they take the checkpoint of the stop and leave the train function by an exception that is not a
/// std::exception: let it pass.
class TRAINRT_API Context final {
 public:
  explicit Context(class Session& session) : session_(session) {}
  Context(const Context&) = delete;

  // Who am I (Ray Train's names).
  int world_rank() const;
  int world_size() const;
  int local_rank() const;
  int local_world_size() const;
  int node_rank() const;
  int node_count() const;
  std::span<const int> gpus() const;  ///< CUDA device numbers of this worker; none on the CPU
  const std::string& run_name() const;
  const std::string& run_id() const;        ///< random, given once: tells runs of one name apart, the same on every rank
  const std::string& storage_path() const;  ///< run.storage_path
  const std::string& run_dir() const;       ///< <storage_path>/<name>, the same path on every rank
  std::string artifacts_dir() const;        ///< <run_dir>/artifacts, for files of the train function's own; it is there
  int attempt() const;                      ///< how often the run was started, this start included
  std::uint64_t seed() const;               ///< run.seed
  const std::string& metadata() const;      ///< TrainerOptions::metadata

  /// A [loop] key as int, std::int64_t, double, bool or std::string. If the config lacks it, the default that the train
  /// function declares (LoopKey), else `fallback`; without any a UsageError.
  template <class T>
  T config(std::string_view key) const;
  template <class T>
  T config(std::string_view key, T fallback) const;

  /// The keys that [loop] has, in the order of their names, and those that the train function declares with a default.
  /// They count as read.
  std::vector<std::string> config_keys();
  /// [NAME] library: the path of a library that the train function loads by itself, NAME being xgboost or lightgbm; "":
  /// the config names none.
  const std::string& library(std::string_view name) const;

  /// The dataset of [data.NAME]; an unknown name is a UsageError that lists those there are.
  Dataset dataset(std::string_view name);
  bool has_dataset(std::string_view name) const;
  std::vector<std::string> dataset_names() const;  ///< of all [data.NAME], in their order

  Communicator& communicator();
  GradientOptions gradient_options() const;  ///< as [scaling] says

  /// For a train function around a library that communicates by itself (`trainrt list` names the frameworks): what its
  /// workers need to find each other, as programs of that framework get it; kept until the attempt ends. Collective.
  /// UsageError for an unknown name, and in a program with a main of its own.
  FrameworkMeeting framework(std::string_view name);

  /// Attaches the state that checkpoints hold, and loads the last checkpoint into it if there is one (returns true); for
  /// a new run with run.resume_from_checkpoint, that one. Replicated tensors that none fills become rank 0's on all ranks.
  /// Once, before the first step() or report(). The data must live until the train function returns.
  bool restore(State& state);
  /// For a train function that keeps its state in files of its own, and saves by report() with a directory: restores what
  /// the runtime keeps (steps, reports, places in datasets) as the last of these checkpoints has it, if there is one;
  /// checkpoint() tells where its files lie, and load() reads its tensors. The run is saved at such reports only: after a
  /// stop what came since is repeated. The same holds for an empty State, from the first directory on. Called instead of
  /// the other one.
  bool restore();

  /// One step is complete and the state is consistent: a point where the run may stop and lose nothing.
  void step();
  /// Steps completed since the run began, over all attempts.
  std::int64_t step_count() const;

  /// Metrics of an iteration: aggregated over the ranks, written by the sinks; a checkpoint when one is due: it is copied
  /// before the call returns, and written while training goes on. The state must be complete before the call. Different
  /// keys on some rank are an error that names key and rank.
  void report(const Metrics& metrics);

  /// The same, and how the metrics are taken.
  void report(const Metrics& metrics, const ReportOptions& options);
  ReportOptions report_options() const;  ///< as metrics.aggregate says, for functions that leave it to the config
  /// The same, with a checkpoint of the files in the directories that ranks give, at this report: all below them, under
  /// their names there, together with the State if one is attached. Which of the ranks give one is free; the others may
  /// call any report(). Returns when the files are copied: the directory may go then. A file that several ranks give must
  /// be the same on all. Links count as the files that they lead to; empty directories are left out. A directory that
  /// cannot be read, other files of one name, and anything but files and folders are an error on all ranks, which names
  /// the path and the ranks, and nothing of the checkpoint remains. Checkpoints that the State is due for later hold the
  /// files of the last one too. They are not put back anywhere: read them where checkpoint() says.
  void report(const Metrics& metrics, const DirectoryCheckpoint& directory, const ReportOptions& options = {});

  /// Fills all that the State names from a checkpoint's directory, or the newest of a run's: tensors (any slabs of them)
  /// and values, which it must have; what it has besides is left out. Every byte is checked. At any time, and for any
  /// State: that of the run stays what it is. Ranks may name other things. Collective.
  void load(const State& state, const std::string& checkpoint);

  /// The newest checkpoint that is committed, or that the run was restored from. Not collective; the same on all ranks
  /// after the same collective call.
  std::optional<CheckpointPlace> checkpoint() const;
  /// A later one is being written. Not collective.
  bool is_checkpoint_on_its_way() const;
  /// Waits until that one is committed, or dropped. Collective.
  void wait_for_checkpoint();
  /// Commits it if it is written by now, and waits for no disk; nothing if none is on its way. step(), report() and
  /// stop_point() do the same: for long work without these. Collective.
  void advance_checkpoint();

  /// A point inside long work between two steps (evaluation, loading, warm-up) if the run may stop too: call it every
  /// few seconds. Nothing is counted. What a State holds must be as it was at the last step() or report(): that is the
  /// place that a stop is saved as, and the work around this call is done again after a restart. Collective: if ranks
  /// have different numbers of batches, call it as often as the one with the fewest.
  void stop_point();

  /// The run is done before its time: all ranks leave at the same next step() or stop_point(), with a checkpoint, and the
  /// run counts as finished (exit 0). Any rank may ask, and not all need to; `reason` is printed and kept. The rules of
  /// [stop] do the same at a report.
  void request_stop(std::string_view reason);

  /// Takes a checkpoint now, if something happened since the last one, and waits until it is committed. Collective. The
  /// last call of a train function, so that what came after the last due checkpoint is kept too: once the function has
  /// returned its data is gone.
  void save();

  /// A JSON object of your own (a model's hyperparameters, a data version) that every later checkpoint carries in its
  /// manifest, over the keys of metadata(); `trainrt inspect` shows it. Rank 0's counts. Anything but a JSON object throws
  /// UsageError.
  void checkpoint_metadata(std::string_view json);

  /// Writes each line of the text as a line of this worker into the run's log (standard error), marked with its rank as
  /// trainrt's own lines are; a progress bar stays whole, and control characters are shown as escapes. Not collective.
  void log(std::string_view text) const;

  /// Tells how many iterations (reports) the run will have in all, for the progress bar.
  void expect_iterations(std::int64_t total);

  /// For a function that runs a program without trainrt's client: how far the program is, as its output shows, and its
  /// metrics, the same on all ranks. seen[position], a number that grows from call to call within an attempt, is the run's
  /// step; the rest of a record is as report() makes it. After a restart records from the first position on that is seen
  /// again are dropped. No checkpoint is taken: what the program has saved is not known. Collective.
  void observe(std::string_view position, const Metrics& seen);
  /// Nothing more will be seen in this attempt, and no conclusion be drawn from that. Rank 0 calls; not collective.
  void end_observation();

  /// Random numbers of this worker for this step: the same after any restart. `stream` tells several uses apart.
  Random random(std::uint64_t stream = 0) const;
  /// A seed for a framework's own generator, from (run.seed, step, worker).
  std::uint64_t step_seed() const;

 private:
  /// Puts the [loop] key into the value, as the type that it has; leaves it if the config lacks the key.
  void read(std::string_view key, LoopValue& value, bool required) const;

  class Session& session_;
};

template <class T>
T Context::config(std::string_view key) const {
  LoopValue value(std::in_place_type<T>);
  read(key, value, true);
  return std::get<T>(std::move(value));
}

template <class T>
T Context::config(std::string_view key, T fallback) const {
  LoopValue value(std::in_place_type<T>, std::move(fallback));
  read(key, value, false);
  return std::get<T>(std::move(value));
}

}  // namespace trainrt
