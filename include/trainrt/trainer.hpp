#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <trainrt/abi.hpp>
#include <trainrt/callback.hpp>
#include <trainrt/context.hpp>
#include <trainrt/export.hpp>
#include <trainrt/result.hpp>

namespace trainrt {

/// The value of a config key, stored as the text that a config file would contain. Numbers and bools are converted to text.
class ConfigValue {
 public:
  ConfigValue(std::string text) : text_(std::move(text)) {}
  ConfigValue(const char* text) : text_(text) {}
  ConfigValue(bool value) : text_(value ? "true" : "false") {}
  template <class T>
  requires(std::integral<T> || std::floating_point<T>) && (!std::same_as<T, bool>)ConfigValue(T number) {
    char digits[64];
    text_.assign(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
using ConfigValues = std::map<std::string, ConfigValue>;

/// The number of ranks of a run and their GPUs (Ray: ScalingConfig): config section [scaling]. In this and the other
/// structs of TrainerOptions, a field without a value has the default of its config key (`trainrt help config`).
struct ScalingConfig {
  std::optional<int> num_workers = {};      ///< expected number of ranks; another number is an error
  std::optional<int> min_workers = {};      ///< minimum number of ranks; makes the run elastic
  std::optional<int> gpus_per_worker = {};  ///< number of GPUs per rank; default: divide the node's GPUs evenly
};

/// The interval and retention of a run's checkpoints (Ray: CheckpointConfig).
struct CheckpointConfig {
  std::optional<std::string> every = {};         ///< interval: "2 reports", "100 steps", "600 s", "auto", "off"
  std::optional<std::int64_t> num_to_keep = {};  ///< number of best checkpoints to keep, plus the latest; 0 keeps all
  std::string score_attribute = {};              ///< metric by which checkpoints are ranked; "": newest first
  std::string score_order = "max";               ///< max: higher scores are better; min: lower scores
};

/// The policy for restarts after a failure of a run (Ray: FailureConfig).
struct FailureConfig {
  std::optional<int> max_failures = {};  ///< maximum number of restarts after failures; see Trainer::fit()
};

/// The name, storage and policies of a run (Ray: RunConfig).
struct RunConfig {
  std::string name = {};              ///< name of the run, by which later starts resume it; "": see fit()
  std::string storage_path = "runs";  ///< folder of run directories; this run uses storage_path/name
  CheckpointConfig checkpoint = {};   ///< section [checkpoint]
  FailureConfig failure = {};         ///< section [failure]
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< objects that are notified of the run's events
  ConfigValues settings = {};                             ///< values of any other config keys: {"checkpoint.async", false}
};

/// All options of a Trainer. Except for the callbacks, they must be the same on every rank.
struct TrainerOptions {
  ScalingConfig scaling = {};
  RunConfig run = {};
  std::map<std::string, ConfigValues> datasets = {};  ///< by NAME: keys of section [data.NAME], see Context::dataset()
  ConfigValues loop = {};                             ///< keys of section [loop], which Context::config() returns
  std::string metadata = "{}";                        ///< JSON object that is stored in every checkpoint of the run
};

/// Runs a train function in a program with its own main (Ray: DataParallelTrainer). The command `trainrt --config` does the
/// same for train functions in shared libraries.
///
/// Each process that srun --mpi=pmix or mpiexec has started is a rank. A program that was started without a launcher has
/// one rank.
class TRAINRT_API Trainer {
 public:
  /// Stores `train`, the train function, which fit() calls on every rank, and `options`. Throws UsageError if the program
  /// was compiled with headers that are incompatible with the loaded trainrt library.
  Trainer(std::function<void(Context&)> train, TrainerOptions options)
      : train_((require_abi(module_abi), std::move(train))), options_(std::move(options)) {}

  /// Starts or resumes the run, calls the train function, and returns the run's Result, the same on every rank (Ray: fit).
  ///
  /// The run continues from its last checkpoint. A run that has already finished is not run again. Collective over all
  /// ranks; all calls of fit() in a process must be made on the same thread.
  ///
  /// *Stops.* On SIGUSR1, SIGUSR2, SIGTERM, SIGINT or SIGHUP on any rank, and before the end of the Slurm job's time, the
  /// run is saved, and fit() returns a Result with the state "stopped". Return result.exit_code() (75) from main; the same
  /// command then resumes the run. The program's own signal handlers are restored before fit() returns.
  ///
  /// *Errors.* Throws UsageError if the config is invalid, and Error on all ranks if the run cannot start or fails on all
  /// ranks together. The program may then call fit() again, to resume from the last checkpoint. If the train function
  /// throws on one of several ranks, all processes end with exit code 70, because the other ranks wait in collectives.
  ///
  /// *Restarts.* The command that started the processes restarts them after a failure, at most max_failures times. Use
  /// `trainrt supervise --program.has_trainer=true -- ./program` in a batch script, or `trainrt -n N` with the same
  /// arguments on one machine. Config keys on this command line take precedence over TrainerOptions, which take
  /// precedence over the command's --config file.
  ///
  /// *Name.* A run without a name is named STEM-JOB-HASH in a Slurm job (program name, job number, hash of the command
  /// line), so that the requeued job resumes it. Outside Slurm it is named STEM-DATE, or has the value of the environment
  /// variable TRAINRT_MADE_UP_NAME as its name. Further runs without a name in the same process get the suffix -2, -3 and
  /// so on.
  ///
  /// *Ranks.* The first call of fit() in a process connects the ranks and starts MPI if necessary; MPI is finalized when
  /// the process exits. Later calls, of any Trainer, use the same communicator, with the first call's [scaling] and
  /// collective_timeout.
  Result fit();

  /// Calls fit() and returns the exit code for main(): 0, 64, 70, 75 or 76. Prints errors on standard error instead of
  /// throwing them. Use it in main() as `return trainer.run();`. Collective.
  int run();

 private:
  std::function<void(Context&)> train_;
  TrainerOptions options_;
};

}  // namespace trainrt
