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
//       const auto* x = static_cast<const float*>(batch.field("x").data);
//       const auto* y = static_cast<const float*>(batch.field("y").data);
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

/// The types that a [loop] key can be read as.
using LoopValue = std::variant<std::int32_t, std::int64_t, double, bool, std::string>;

/// The connection of a train function to its run: ranks, config, datasets, communicator, checkpoints and reports.
///
/// It replaces Ray Train's `ray.train.get_context()` and the functions of `ray.train`; functions that do the same have
/// Ray's names. A Context lives as long as the call of the train function.
///
/// Threads: only the thread that runs the train function may call it.
///
/// Collective functions: all ranks must call them, in the same order. These are step(), report(), stop_point(), restore(),
/// load(), save(), observe(), framework(), wait_for_checkpoint() and advance_checkpoint(); the others are not collective.
///
/// Stops: when the run has to stop (a signal, the end of the job's time), step(), report(), stop_point(), restore() and
/// save() first save a checkpoint if progress would be lost otherwise. They then leave the train function by an exception
/// that is not derived from std::exception. Do not catch it; every later call of these functions throws it again.
class TRAINRT_API Context final {
 public:
  explicit Context(class Session& session) : session_(session) {}
  Context(const Context&) = delete;

  // The ranks. A rank is what Ray Train calls a worker.
  int world_rank() const;               ///< number of this rank, 0 to world_size() - 1 (Ray: get_world_rank)
  int world_size() const;               ///< number of ranks (Ray: get_world_size)
  int local_rank() const;               ///< number of this rank among the ranks of its node, from 0 (Ray: get_local_rank)
  int local_world_size() const;         ///< number of ranks on this node (Ray: get_local_world_size)
  int node_rank() const;                ///< number of this rank's node, from 0 (Ray: get_node_rank)
  int node_count() const;               ///< number of nodes
  std::span<const int> gpus() const;    ///< CUDA device numbers of this rank; empty without GPUs
  const std::string& run_name() const;  ///< run.name (Ray: get_experiment_name)
  const std::string& run_id() const;    ///< random identifier, made when the run first started; the same on every rank
  const std::string& storage_path() const;  ///< run.storage_path
  const std::string& run_dir() const;       ///< <storage_path>/<run_name>, the same path on every rank
  std::string artifacts_dir() const;        ///< <run_dir>/artifacts, an existing directory for the train function's files
  int attempt() const;                      ///< number of times that the run was started, this time included; from 1
  std::uint64_t seed() const;               ///< run.seed
  const std::string& metadata() const;      ///< TrainerOptions::metadata, a JSON object

  /// Returns the value of key `key` of [loop] (Ray: train_loop_config). `T` is int, std::int64_t, double, bool or
  /// std::string. If the config has no such key, returns the default that the train function declares (LoopKey).
  /// Throws UsageError if there is neither, or if the value cannot be read as a `T`.
  template <class T>
  T config(std::string_view key) const;
  /// Returns the value of key `key` of [loop]; without one the declared default; without that `fallback`. Throws UsageError
  /// if the value cannot be read as a `T`.
  template <class T>
  T config(std::string_view key, T fallback) const;

  /// Returns the names of all [loop] keys: those that the config sets and those that the train function declares with a
  /// default, sorted. Marks them as read, so that no warning about unread keys is printed.
  std::vector<std::string> config_keys();
  /// Returns the path of the library that the config names in key `library` of section [NAME], or "" if it names no
  /// library. `name` is "xgboost" or "lightgbm"; any other name throws UsageError.
  const std::string& library(std::string_view name) const;

  /// Opens the dataset that section [data.NAME] declares, or returns the one that an earlier call opened (Ray:
  /// get_dataset_shard). Throws UsageError, with the valid names, if the config has no such section.
  Dataset dataset(std::string_view name);
  /// Returns whether the config has a section [data.NAME].
  bool has_dataset(std::string_view name) const;
  std::vector<std::string> dataset_names() const;  ///< NAME of every [data.NAME], sorted

  /// Returns the communicator over all ranks of the run. It lives as long as the train function.
  Communicator& communicator();
  GradientOptions gradient_options() const;  ///< options for GradientBuckets, from section [scaling]

  /// Starts the rendezvous of a framework that brings its own communication, and returns what this rank needs to join it.
  /// `name` is a framework that `trainrt list` shows. The services that the runtime provides for it run until the attempt
  /// ends on all ranks. Throws UsageError for an unknown name, and in a program with its own main. Collective.
  FrameworkMeeting framework(std::string_view name);

  /// Attaches `state` to the run, so that every checkpoint holds it, and loads the run's newest checkpoint into it.
  ///
  /// Returns true if a checkpoint was loaded. If the run has no checkpoint and run.resume_from_checkpoint names one, that
  /// one is loaded. Replicated tensors that no checkpoint fills get rank 0's values on all ranks. The memory that `state`
  /// refers to must live until the train function returns.
  ///
  /// Must be called once, before the first step() and report(); throws UsageError after these, and when called again.
  /// Throws Error on all ranks if the checkpoint and the State differ in names, types or shapes, if run.seed was changed,
  /// or if all checkpoints are damaged. Collective.
  bool restore(State& state);
  /// Restores the position of the run, for a train function that saves its own files by report() with a directory.
  ///
  /// Restores the counts of steps and reports and the positions in datasets from the newest checkpoint, and returns true
  /// if there was one. checkpoint() then returns where the function's files are; load() reads tensors that came with a
  /// report. The run is saved only by such reports: after a stop, everything since the last one is repeated. A run whose
  /// attached State is empty is treated the same from its first such report on.
  ///
  /// Call it instead of restore(state). Throws as that one does. Collective.
  bool restore();

  /// Completes one step of training. The attached State must be consistent: the run may save and stop here.
  ///
  /// Throws Error, on all ranks, if saving has failed too often or if replicated tensors differ between ranks (with the
  /// config's default). Collective.
  void step();
  /// Returns the number of steps completed since the run began, over all attempts.
  std::int64_t step_count() const;

  /// Reports the metrics of an iteration, and saves a checkpoint if one is due (Ray: ray.train.report).
  ///
  /// Numbers are combined over the ranks as each Number declares, by default to their mean; strings are rank 0's. All
  /// ranks must report the same keys. Complete the attached State before the call: the checkpoint is copied before
  /// report() returns, and written to disk while training continues.
  ///
  /// Throws Error, on all ranks, that names key and rank if the keys differ; as step() otherwise. Collective.
  void report(const Metrics& metrics);

  /// Reports metrics as report(metrics) does; `options` chooses whether they are combined or rank 0's are used. Collective.
  void report(const Metrics& metrics, const ReportOptions& options);
  ReportOptions report_options() const;  ///< the choice of metrics.aggregate in the config; report(metrics) ignores it
  /// Reports metrics and takes a checkpoint now, of the files in `directory` (Ray: report() with a Checkpoint).
  ///
  /// Each rank may pass a directory or none; ranks without one may call any report(). The checkpoint holds all files below
  /// the directories, by their relative names, and the attached State, if there is one. Returns when the files are copied:
  /// the directory may then be deleted. A file name that several ranks use must have the same content on all. Links are
  /// followed; empty directories are left out. Later checkpoints of the State hold the files, too, until a report brings
  /// others. Files are not restored to their directory: read them from the path that checkpoint() returns.
  ///
  /// Throws Error, on all ranks, that names path and ranks if a directory cannot be read, if files of one name differ, or
  /// if a directory holds anything but files and folders; no checkpoint is then made. Otherwise as report(metrics).
  /// Collective.
  void report(const Metrics& metrics, const DirectoryCheckpoint& directory, const ReportOptions& options = {});

  /// Loads `state` from a checkpoint, independently of the run's own State.
  ///
  /// `checkpoint` is the directory of a checkpoint, or a run directory, which stands for its newest checkpoint. The
  /// checkpoint must hold every tensor and value of `state` (any slab of a tensor); what else it holds is ignored. All
  /// bytes are verified by checksum. Ranks may load different entries. May be called at any time.
  ///
  /// Throws Error on all ranks for a path without a checkpoint, for entries that are missing or differ in type or shape,
  /// and for damaged files. Collective.
  void load(const State& state, const std::string& checkpoint);

  /// Returns the newest committed checkpoint of the run, or the one that it was restored from (Ray: get_checkpoint).
  /// Returns nothing if there is neither. After a collective call the result is the same on all ranks.
  std::optional<CheckpointPlace> checkpoint() const;
  /// Returns whether a checkpoint is being written in the background.
  bool is_checkpoint_on_its_way() const;
  /// Waits until the checkpoint in progress is committed or dropped. Collective.
  void wait_for_checkpoint();
  /// Commits the checkpoint in progress if it is completely written; does not wait for the disk. step(), report() and
  /// stop_point() do this, too: call it in long work without these. Collective.
  void advance_checkpoint();

  /// Lets the run stop inside long work between two steps, such as evaluation or loading. Call it every few seconds.
  ///
  /// Counts nothing. A stop here saves the position of the last step() or report(), so the attached State must still be
  /// as it was then; after a restart the work since then is repeated. If ranks have different numbers of batches, call it
  /// as often as the rank with the fewest. Collective.
  void stop_point();

  /// Asks to end the run early, as finished (exit code 0). All ranks leave the train function at the same step() or
  /// stop_point(), with a checkpoint. One rank may call it alone. `reason` is printed and recorded. The rules in section
  /// [stop] do the same at reports.
  void request_stop(std::string_view reason);

  /// Saves a checkpoint, unless nothing has changed since the last one, and waits until it is committed.
  ///
  /// Call it last in the train function, so that everything after the last due checkpoint is kept. Throws UsageError
  /// before restore(), Error on all ranks if the checkpoint cannot be written. Collective.
  void save();

  /// Sets the metadata of later checkpoints: `json`, a JSON object such as a model's hyperparameters. Its keys replace
  /// those of metadata(); `trainrt inspect` shows it. Rank 0's value is stored. Throws UsageError if `json` is not a JSON
  /// object.
  void checkpoint_metadata(std::string_view json);

  /// Writes each line of `text` to the run's log (standard error), marked with this rank. Control characters are escaped.
  void log(std::string_view text) const;

  /// Sets the number of iterations (reports) after which the run will be complete, for the progress bar and forecasts.
  void expect_iterations(std::int64_t total);

  /// Records progress that the runtime has read from the output of a program that does not use trainrt's API.
  ///
  /// `seen` holds the metrics, the same on all ranks. The number seen[position] becomes the run's step; it must grow from
  /// call to call within an attempt. After a restart, records at or after the first position are replaced. No checkpoint
  /// is saved, since the program's state is unknown. Throws UsageError if `seen` has no number `position`. Collective.
  void observe(std::string_view position, const Metrics& seen);
  /// Declares that observe() will not be called again in this attempt. The attempt's progress then counts as unknown, not
  /// as missing. Rank 0 calls it.
  void end_observation();

  /// Returns a random generator for this rank and step, seeded by (run.seed, step, rank). The same numbers are drawn after
  /// a restart. `stream` separates independent uses within a step.
  Random random(std::uint64_t stream = 0) const;
  /// Returns a seed for another library's generator, computed from (run.seed, step, rank).
  std::uint64_t step_seed() const;

 private:
  /// Parses the [loop] key `key` as the type that `value` holds, and stores it there. Leaves `value` unchanged if the
  /// config has no such key; throws UsageError then if `required`, and always for a value of another type.
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
