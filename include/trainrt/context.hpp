#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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

// Context connects a train function to its run. A complete train function that fits y = w * x on any number of ranks:
//
// ```cpp
// #include <trainrt/trainrt.hpp>
//
// #include <utility>
//
// void train(trainrt::Context& ctx) {
//   const auto lr = ctx.config("lr", 0.1);  // [loop] lr, default 0.1
//   auto data = ctx.dataset("train");       // [data.train]; its fields x and y hold one f32 per sample
//   float w = 0;
//   int epoch = 0;
//   double loss = 0;  // this rank's sum since the last report
//
//   trainrt::State state;  // everything that a checkpoint has to hold
//   state.tensor("model/w", std::span(&w, 1));
//   state.value("epoch", epoch);
//   state.value("loss", loss).part_of_sum();
//   ctx.restore(state);  // loads the newest checkpoint, if the run has one
//
//   while (epoch < ctx.config("epochs", 10)) {
//     for (const auto& batch : data.epoch(epoch).batches(64)) {  // after a restart: from the saved position on
//       const auto x = batch.field<float>("x"), y = batch.field<float>("y");
//       double gradient = 0;
//       for (std::size_t i = 0; i < batch.size(); ++i) {
//         const double error = w * x[i] - y[i];
//         gradient += 2 * error * x[i] / static_cast<double>(batch.size());
//         loss += error * error;
//       }
//       gradient = ctx.communicator().all_reduced(gradient, trainrt::Op::mean);
//       w -= static_cast<float>(lr * gradient);
//       ctx.step();  // the state is consistent here: the run may stop without loss
//     }
//     ++epoch;
//     const double sum = std::exchange(loss, 0);  // complete the state before the report
//     ctx.report({{"loss", trainrt::sum(sum / static_cast<double>(data.size()))}});
//   }
//   ctx.save();
// }
//
// TRAINRT_TRAIN_FUNCTION("fit_line", train)
// ```

namespace trainrt {

/// A value from config section [loop]: any of the C++ types that Context::config() can return.
using LoopValue = std::variant<std::int32_t, std::int64_t, double, bool, std::string>;

/// The connection of a train function to its run: ranks, config, datasets, communicator, checkpoints and reports.
///
/// Context replaces Ray Train's `ray.train.get_context()` and the functions of `ray.train`, and uses Ray's names for
/// functions that do the same. A Context lives as long as the call of the train function.
///
/// Threads: only the thread that runs the train function may call functions of a Context.
///
/// Collective functions: all ranks must call them, in the same order. These are step(), report(), stop_point(), restore(),
/// load(), save(), observe(), framework(), wait_for_checkpoint() and advance_checkpoint(); the others are not collective.
///
/// Stops: a run has to stop after a signal and before the end of the job's time. The next call of step(), report(),
/// stop_point(), restore() or save() then saves a checkpoint if progress would be lost otherwise. It leaves the train
/// function by an exception that is not derived from std::exception. Do not catch this exception; every later call of
/// these functions throws it again.
class TRAINRT_API Context final {
 public:
  explicit Context(class Session& session) : session_(session) {}
  Context(const Context&) = delete;

  // --- the run and its ranks (Ray Train: workers) ---
  int world_rank() const;               ///< number of this rank, 0 to world_size() - 1 (Ray: get_world_rank)
  int world_size() const;               ///< number of ranks (Ray: get_world_size)
  int local_rank() const;               ///< number of this rank among the ranks of its node, from 0 (Ray: get_local_rank)
  int local_world_size() const;         ///< number of ranks on this node (Ray: get_local_world_size)
  int node_rank() const;                ///< number of this rank's node, from 0 (Ray: get_node_rank)
  int node_count() const;               ///< number of nodes
  std::span<const int> gpus() const;    ///< CUDA device numbers of this rank; empty without GPUs
  const std::string& run_name() const;  ///< name of the run, config key run.name (Ray: get_experiment_name)
  const std::string& run_id() const;    ///< random identifier of the run, the same on every rank and after restarts
  const std::string& storage_path() const;  ///< folder of run directories, config key run.storage_path
  const std::string& run_dir() const;       ///< run directory: <storage_path>/<run_name>, the same on every rank
  std::string artifacts_dir() const;        ///< existing directory <run_dir>/artifacts, for files of the train function
  int attempt() const;                      ///< number of the current attempt, from 1: how often the run was started
  std::uint64_t seed() const;               ///< random seed of the run, config key run.seed
  const std::string& metadata() const;      ///< metadata of the run, a JSON object (TrainerOptions::metadata)

  /// Returns the value of key `key` in config section [loop] (Ray: train_loop_config). `T` is int, std::int64_t, float,
  /// double, bool or std::string. If the config does not set the key, returns the default that the train function declares
  /// (LoopKey). Throws UsageError if the key has neither a value nor a default, or if the value cannot be read as a `T`.
  template <class T>
  T config(std::string_view key) const;
  /// Like config(key), but returns `fallback` if the key has neither a value nor a default.
  template <class T>
  T config(std::string_view key, T fallback) const;
  /// Returns the sorted names of all keys of config section [loop]: those that the config sets, and those that the train
  /// function declares with a default. Marks all of them as read, so that no warning about unread keys is printed.
  std::vector<std::string> config_keys();
  /// Returns the path of a framework's shared library: the value of config key `library` in section [xgboost] or
  /// [lightgbm]. Returns an empty text if the config does not set that key. `name` is "xgboost" or "lightgbm"; any other
  /// name throws UsageError.
  const std::string& library(std::string_view name) const;

  /// Opens the dataset that config section [data.NAME] declares, or returns the dataset that an earlier call opened (Ray:
  /// get_dataset_shard). Throws UsageError, with the valid names, if the config has no such section.
  Dataset dataset(std::string_view name);
  /// Returns whether the config has a section [data.NAME].
  bool has_dataset(std::string_view name) const;
  std::vector<std::string> dataset_names() const;  ///< names of all datasets, sorted: NAME of each section [data.NAME]

  /// Returns the communicator over all ranks of the run. The communicator lives until the train function returns.
  Communicator& communicator();
  GradientOptions gradient_options() const;  ///< options for GradientBuckets, from config section [scaling]

  /// Starts the services through which the workers of a framework with its own communication (such as XGBoost) find each
  /// other, and returns the settings with which this rank joins. `name` is a framework that `trainrt list` shows. The
  /// services run until the attempt ends on all ranks. Throws UsageError for an unknown framework, and in a program with
  /// its own main. Collective.
  FrameworkMeeting framework(std::string_view name);

  /// Attaches `state` to the run, so that every checkpoint holds it, and loads the run's newest checkpoint into it.
  ///
  /// Returns true if a checkpoint was loaded. If the run has no checkpoint, the checkpoint that config key
  /// run.resume_from_checkpoint names, if any, is loaded instead. Replicated tensors that are not loaded from a checkpoint
  /// get rank 0's values on all ranks. The memory that `state` refers to must live until the train function returns.
  ///
  /// Must be called once, before the first step() and report(). A later or second call throws UsageError. Throws Error on
  /// all ranks if the checkpoint and the State differ in names, types or shapes, if run.seed was changed, or if all
  /// checkpoints are damaged. Collective.
  bool restore(State& state);
  /// Restores the position of a run, for a train function that saves files of its own by calls of report() with a
  /// directory.
  ///
  /// Restores the number of steps, the number of reports and the positions in datasets from the newest checkpoint.
  /// Returns true if a checkpoint existed. checkpoint() then returns the location of the train function's files, and
  /// load() reads tensors that were passed to report(). Call restore() instead of restore(state); both throw the same
  /// errors. Collective.
  ///
  /// Only reports with a directory save such a run: after a stop, all work since the last of these reports is repeated.
  /// The same applies to a run with an empty attached State, from the run's first report with a directory on.
  bool restore();

  /// Completes one step of training. The attached State must be consistent: the run may save and stop here.
  ///
  /// Throws Error on all ranks if saving has failed too often. Also throws Error if replicated tensors differ between
  /// ranks, unless config key checkpoint.replica_check allows differences. Collective.
  void step();
  /// Returns the number of steps completed since the run began, over all attempts.
  std::int64_t step_count() const;

  /// Reports the metrics of an iteration, and saves a checkpoint if one is due (Ray: ray.train.report).
  ///
  /// Each number is combined over the ranks by the operation of its Number, by default the mean. For a string, rank 0's
  /// value is reported. All ranks must report the same keys. Complete the attached State before the call: the checkpoint is
  /// copied before report() returns, and written to disk while training continues.
  ///
  /// Throws Error on all ranks if their keys differ; the message names the key and the rank. Also throws the errors of
  /// step(). Collective.
  void report(const Metrics& metrics);

  /// Reports metrics as report(metrics) does. `options` chooses whether the ranks' metrics are combined or rank 0's are
  /// reported. Collective.
  void report(const Metrics& metrics, const ReportOptions& options);
  ReportOptions report_options() const;  ///< options of config key metrics.aggregate; not used by report(metrics)
  /// Reports metrics and saves a checkpoint of the files in `directory` at once (Ray: report() with a Checkpoint).
  ///
  /// The checkpoint holds all files below the directories of all ranks, by their relative names, and the attached State, if
  /// any. Returns when the files are copied: the directory may then be deleted. Rules:
  /// - A rank without a directory passes an empty path or calls another overload of report().
  /// - If several ranks have a file of the same relative name, its content must be the same on all of them.
  /// - Symbolic links are followed; empty directories are left out.
  /// - Later checkpoints of the State hold the same files, until a report passes others.
  /// - Files are not restored to their directory: read them from the path that checkpoint() returns.
  ///
  /// Throws Error on all ranks if a directory cannot be read, if files of the same name differ, or if a directory holds
  /// anything but files and folders. The message names the path and the ranks, and no checkpoint is saved. Also throws the
  /// errors of report(metrics). Collective.
  void report(const Metrics& metrics, const DirectoryCheckpoint& directory, const ReportOptions& options = {});

  /// Loads `state` from a checkpoint, independently of the run's own State.
  ///
  /// `checkpoint` is the directory of a checkpoint, or a run directory, from which the newest checkpoint is loaded. The
  /// checkpoint must hold every tensor and value of `state`; a tensor of `state` may be any slab of the saved tensor. Other
  /// entries of the checkpoint are ignored. All bytes are verified by checksum. Ranks may load different entries. May be
  /// called at any time.
  ///
  /// Throws Error on all ranks for a path without a checkpoint, for entries that are missing or differ in type or shape,
  /// and for damaged files. Collective.
  void load(const State& state, const std::string& checkpoint);

  /// Returns the newest committed checkpoint of the run, or else the checkpoint from which the run was restored (Ray:
  /// get_checkpoint). Returns nothing if neither exists. The result is the same on all ranks after a collective call.
  std::optional<CheckpointPlace> checkpoint() const;
  bool is_checkpoint_on_its_way() const;  ///< returns whether a checkpoint is being written in the background
  bool is_saved() const;                  ///< returns whether a restart would repeat no step and no report
  /// Waits until the checkpoint that is being written in the background is committed, or dropped after an error. Does
  /// nothing if no checkpoint is being written. Collective.
  void wait_for_checkpoint();
  /// Commits the checkpoint that is being written in the background, if all its bytes are on disk; does not wait for the
  /// disk. step(), report() and stop_point() do the same. Call advance_checkpoint() in long work that calls none of them.
  /// Collective.
  void advance_checkpoint();

  /// Lets the run stop inside long work between two steps, such as evaluation or loading. Call it every few seconds.
  ///
  /// The call does not count as a step or report. If the run stops in stop_point(), the position of the last step() or
  /// report() is saved. The attached State must therefore be unchanged since then. After a restart, the work since then
  /// is repeated. All ranks must make the same number of calls. If the ranks have different numbers of batches, every
  /// rank makes only as many calls as the rank with the fewest batches. Collective.
  void stop_point();

  /// Requests that the run ends early. The run then counts as finished (exit code 0). A call on one rank is enough: all
  /// ranks leave the train function at the same step() or stop_point(), after a checkpoint was saved. `reason` is
  /// printed and recorded. The stop rules of config section [stop] also end a run in this way, at a report.
  void request_stop(std::string_view reason);

  /// Saves a checkpoint, unless nothing has changed since the last one, and waits until it is committed.
  ///
  /// Call save() at the end of the train function, so that the work since the last periodic checkpoint is kept. Throws
  /// UsageError before restore(), and Error on all ranks if the checkpoint cannot be written. Collective.
  void save();

  /// Sets the metadata of later checkpoints: `json`, a JSON object such as a model's hyperparameters. Its keys override
  /// those of metadata(); `trainrt inspect` shows the result. Rank 0's value is stored. Throws UsageError if `json` is not
  /// a JSON object.
  void checkpoint_metadata(std::string_view json);

  /// Writes each line of `text` to the run's log (standard error), with this rank's number. Control characters are escaped.
  void log(std::string_view text) const;

  /// Sets the number of iterations (reports) after which the run will be complete, for the progress bar and forecasts.
  void expect_iterations(std::int64_t total);

  /// Records progress that the runtime has read from the output of a program that does not use trainrt's API.
  ///
  /// `seen` holds the metrics, the same on all ranks. The number seen[position] becomes the run's step; it must grow from
  /// call to call within an attempt. After a restart, metric records of earlier attempts at or after the first observed
  /// position are replaced. No checkpoint is saved, since the program's state is unknown. Throws UsageError if `seen` has
  /// no number `position`. Collective.
  void observe(std::string_view position, const Metrics& seen);
  /// Declares that observe() will not be called again in this attempt. The attempt's progress then counts as unknown, and
  /// not as zero. Called on rank 0 only.
  void end_observation();

  /// Returns a random generator for this rank and step, seeded by (run.seed, step, rank). The same numbers are drawn after
  /// a restart. `stream` separates independent uses within a step.
  Random random(std::uint64_t stream = 0) const;
  /// Returns a seed for another library's generator, computed from (run.seed, step, rank).
  std::uint64_t step_seed() const;

 private:
  /// Reads key `key` of [loop] into `value`, as the type that `value` holds. If the key has neither a value nor a default,
  /// throws UsageError if `required`, otherwise leaves `value` unchanged. Throws UsageError for an invalid value.
  void read(std::string_view key, LoopValue& value, bool required) const;
  template <class T>
  T config_as(std::string_view key, T fallback, bool required) const;

  class Session& session_;
};

template <class T>
T Context::config(std::string_view key) const {
  return config_as<T>(key, {}, true);
}

template <class T>
T Context::config(std::string_view key, T fallback) const {
  return config_as<T>(key, std::move(fallback), false);
}

template <class T>
T Context::config_as(std::string_view key, T fallback, bool required) const {
  using Read = std::conditional_t<std::is_same_v<T, float>, double, T>;
  static_assert(std::is_same_v<Read, int> || std::is_same_v<Read, std::int64_t> || std::is_same_v<Read, double> ||
                    std::is_same_v<Read, bool> || std::is_same_v<Read, std::string>,
                "config() returns an int, std::int64_t, float, double, bool or std::string");
  LoopValue value(std::in_place_type<Read>, std::move(fallback));
  read(key, value, required);
  return static_cast<T>(std::get<Read>(std::move(value)));
}

}  // namespace trainrt
