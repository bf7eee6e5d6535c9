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

/// The value of a config key: text as in a config file, or a number or bool, which is converted to text.
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

/// The ranks of a run (Ray: ScalingConfig). A field without a value has the default of its config key in section [scaling]
/// (`trainrt help config`); the same holds for the structs below.
struct ScalingConfig {
  std::optional<int> num_workers = {};      ///< number of ranks; UsageError if another number was started
  std::optional<int> min_workers = {};      ///< minimum number of ranks of an elastic run
  std::optional<int> gpus_per_worker = {};  ///< GPUs per rank; default: divide the node's GPUs evenly
};

/// The checkpoints of a run (Ray: CheckpointConfig).
struct CheckpointConfig {
  std::optional<std::string> every = {};         ///< "2 reports", "100 steps", "600 s", "auto" or "off"
  std::optional<std::int64_t> num_to_keep = {};  ///< number of best checkpoints to keep, plus the latest; 0 keeps all
  std::string score_attribute = {};              ///< metric that ranks checkpoints; "": the newest are the best
  std::string score_order = "max";               ///< "max" if higher scores are better, or "min"
};

/// The restarts of a run (Ray: FailureConfig).
struct FailureConfig {
  std::optional<int> max_failures = {};  ///< maximum number of restarts; see Trainer::fit()
};

/// The name, storage and policies of a run (Ray: RunConfig).
struct RunConfig {
  std::string name = {};                                  ///< a later start with this name resumes the run; "": see fit()
  std::string storage_path = "runs";                      ///< the run directory is storage_path/name
  CheckpointConfig checkpoint = {};                       ///< section [checkpoint]
  FailureConfig failure = {};                             ///< section [failure]
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< objects notified of events; see Callback for the ranks
  ConfigValues settings = {};                             ///< any other config keys: {"checkpoint.async", false}
};

/// All options of a Trainer. They must be the same on every rank, except callbacks.
struct TrainerOptions {
  ScalingConfig scaling = {};
  RunConfig run = {};
  std::map<std::string, ConfigValues> datasets = {};  ///< sections [data.NAME], which Context::dataset(NAME) opens
  ConfigValues loop = {};                             ///< section [loop], which Context::config() reads
  std::string metadata = "{}";                        ///< JSON object that every checkpoint of the run stores
};

/// Runs a train function in a program with its own main (Ray: DataParallelTrainer). `trainrt --config` does the same for
/// train functions in modules.
///
/// The processes that srun --mpi=pmix or mpiexec has started are the ranks; a program started by hand has one rank.
class TRAINRT_API Trainer {
 public:
  /// `train` is the train function, called on every rank. Throws UsageError if the program was compiled with incompatible
  /// headers.
  Trainer(std::function<void(Context&)> train, TrainerOptions options)
      : train_((require_abi(module_abi), std::move(train))), options_(std::move(options)) {}

  /// Opens or resumes the run, calls the train function, and returns its Result, the same on every rank (Ray: fit).
  ///
  /// The run continues from its last checkpoint. A run that has already finished is not run again. Collective over all
  /// ranks; always call it from the same thread.
  ///
  /// *Stops.* On SIGUSR1, SIGUSR2, SIGTERM, SIGINT or SIGHUP on any rank, and before the end of the Slurm job's time, the
  /// run is saved, and fit() returns a Result with the state "stopped". Return result.exit_code() (75) from main; the same
  /// command then resumes the run. The program's own signal handlers are restored before fit() returns.
  ///
  /// *Errors.* Throws Error on all ranks if the run cannot start or fails on all ranks together; UsageError if the config
  /// is invalid. The program may then call fit() again, to resume from the last checkpoint. If the train function throws on
  /// one of several ranks, all processes end with exit code 70, because the other ranks wait in collectives.
  ///
  /// *Restarts.* Therefore the program that started the processes has to restart them: `trainrt supervise
  /// --program.has_trainer=true -- ./program` in a batch script, or `trainrt -n N` with the same arguments on one machine,
  /// up to max_failures times. Config keys on their command line take precedence over TrainerOptions, which take
  /// precedence over their --config file.
  ///
  /// *Name.* A run without a name is named STEM-JOB-HASH in a Slurm job (program name, job number, hash of the command
  /// line), so that the requeued job resumes it. Elsewhere it is named STEM-DATE, or after the environment variable
  /// TRAINRT_MADE_UP_NAME. Further runs of a process without a name get the suffix -2, -3 and so on.
  ///
  /// *Ranks.* The first call in a process finds the other ranks and starts MPI if necessary; MPI ends with the process.
  /// Later calls, of any Trainer, use the same communicator, with the first call's [scaling] and collective_timeout.
  Result fit();

  /// Calls fit() and returns the exit code for main: 0, 64, 70, 75 or 76. Prints an error on standard error instead of
  /// throwing it. Use it as `return trainer.run();`. Collective.
  int run();

 private:
  std::function<void(Context&)> train_;
  TrainerOptions options_;
};

}  // namespace trainrt
