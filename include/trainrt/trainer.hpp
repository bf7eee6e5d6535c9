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

/// The value of a config key: a text as a config file has it, or a number or bool, which becomes one.
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

/// What is left out here has the default of its config key (`trainrt help config`).
struct ScalingConfig {
  std::optional<int> num_workers = {};      ///< ranks; another number than was launched is a UsageError
  std::optional<int> min_workers = {};      ///< elastic: from so many to num_workers
  std::optional<int> gpus_per_worker = {};  ///< left out: as many as there are for each
};

struct CheckpointConfig {
  std::optional<std::string> every = {};         ///< "2 reports", "100 steps", "600 s", "auto", "off"
  std::optional<std::int64_t> num_to_keep = {};  ///< the best so many, and the latest; 0: all
  std::string score_attribute = {};              ///< the metric that says which are best; "": the newest are
  std::string score_order = "max";               ///< or "min"
};

struct FailureConfig {
  std::optional<int> max_failures = {};  ///< so often who watches over the ranks starts them again (Trainer::fit())
};

struct RunConfig {
  std::string name = {};                                  ///< what the next start continues; "": Trainer::fit() says which
  std::string storage_path = "runs";                      ///< the run directory is storage_path/name
  CheckpointConfig checkpoint = {};                       ///< [checkpoint]
  FailureConfig failure = {};                             ///< [failure]
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< rank 0's are called
  ConfigValues settings = {};                             ///< any other key: {"checkpoint.async", false}
};

/// The same on every rank, but for callbacks.
struct TrainerOptions {
  ScalingConfig scaling = {};
  RunConfig run = {};
  std::map<std::string, ConfigValues> datasets = {};  ///< [data.NAME]: what Context::dataset(NAME) opens
  ConfigValues loop = {};                             ///< [loop]: what Context::config() reads
  std::string metadata = "{}";                        ///< a JSON object that every checkpoint of the run carries
};

/// A run of a program with its own main: what `trainrt --config` does for the train functions of modules. The program's
/// processes are the ranks, as srun --mpi=pmix or mpiexec started them; by hand it is one rank.
class TRAINRT_API Trainer {
 public:
  Trainer(std::function<void(Context&)> train, TrainerOptions options)
      : train_((require_abi(module_abi), std::move(train))), options_(std::move(options)) {}

  /// Opens the run, continues it from its last checkpoint, calls the train function and returns when it is over: the same
  /// Result on every rank. Collective over all ranks of the launch, and called by one thread. A run that has finished
  /// already is not run again.
  ///
  /// A stop (SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP on any rank, or the end of the Slurm job's time) makes it return
  /// with the state "stopped" and everything saved: return result.exit_code() (75) from main then, and the same command
  /// continues. The signals have the program's own handlers again when it returns.
  ///
  /// Throws Error on all ranks if the run cannot start or fails on all of them, UsageError for a config that is not valid.
  /// The process may go on, and call fit() again: it continues from the last checkpoint. A train function that throws on
  /// one rank of several ends the whole step with exit 70: the others wait for it in collectives that no rank can leave
  /// alone.
  ///
  /// So what restarts a program whose rank has thrown, or was killed, is who started its processes:
  /// `trainrt supervise --program.has_trainer=true -- ./program` in a batch script, or `trainrt -n N` with the same on one
  /// machine, up to max_failures times. They start it as a rank; keys that they are given on the command line count before
  /// those of TrainerOptions, and a --config file behind them.
  ///
  /// A run without a name is called STEM-JOB-HASH in a Slurm job (the program's name, the job's number, all words of the
  /// command line), so that a requeue of the job continues it; elsewhere STEM-DATE, or as TRAINRT_MADE_UP_NAME says. The
  /// second call of a process that gives none gets "-2" behind it, and so on.
  ///
  /// The first call finds the other ranks, and starts MPI if that is needed; MPI ends with the process. Later calls, of any
  /// Trainer, use the same communicator, with the first one's [scaling] and collective_timeout.
  Result fit();

  /// fit() for a main that does nothing else: `return trainer.run();`. What went wrong is said once, on standard error.
  /// Returns what main is to return: 0, 64, 70, 75 or 76.
  int run();

 private:
  std::function<void(Context&)> train_;
  TrainerOptions options_;
};

}  // namespace trainrt
