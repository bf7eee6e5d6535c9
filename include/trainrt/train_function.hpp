#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <trainrt/export.hpp>

namespace trainrt {

class Context;
class Predictions;

/// The type of a key in config section [loop]. A `path` is a string that names a file or folder; ${NAME} in it is replaced
/// by the value of environment variable NAME.
enum class LoopType : std::uint8_t { text, integer, real, boolean, path };

/// A train function's declaration of one key in config section [loop]. The declaration has these effects:
/// - The key's value is checked before a run starts and by `trainrt check`.
/// - `trainrt list NAME` shows the key.
/// - ctx.config("key") returns the default if the config does not set the key.
struct LoopKey {
  std::string_view key;
  LoopType type = LoopType::text;
  std::string_view default_value = "";  ///< default value, as written in a config; empty: no default
  std::string_view help = "";
  bool required = false;
  double least = -std::numeric_limits<double>::infinity();  ///< minimum value of a number; NaN and infinity are never valid
  double most = std::numeric_limits<double>::infinity();    ///< maximum value of a number
  double below = std::numeric_limits<double>::infinity();   ///< upper bound of a number, not itself a valid value
  std::string_view choices = "";  ///< valid values of a text key: `sgd, adamw`; empty: any text is valid
};

/// The description of a train function. Key `function` of config section [train] selects the train function by its name.
struct TrainFunction {
  std::string_view name;
  std::string_view help = "";
  void (*train)(Context&) = nullptr;  ///< the train function itself (Ray: train_loop_per_worker), called on every rank
  /// All keys of config section [loop] that the train function reads; other keys are errors. If empty, every key is
  /// accepted.
  std::span<const LoopKey> loop = {};
  std::string_view datasets = "";  ///< names of the datasets that the function requires: `train, test`
  bool takes_other_keys = false;   ///< if true, keys of section [loop] that `loop` does not declare are accepted, too
  /// Function that applies a trained model to a dataset, for `trainrt predict` (predictions.hpp). Null if the train
  /// function does not support predictions.
  void (*predict)(Context&, Predictions&) = nullptr;
  /// Function that checks config and data for `trainrt check`, on one rank, with a few samples of each dataset. It does the
  /// work that `train` does before restore(), and as much of a first step as a login node allows. It throws the UsageErrors
  /// that `train` would throw. It must not call restore(), step() or report(). If null, such errors are found only when the
  /// run starts.
  void (*check)(Context&) = nullptr;
};

/// The version of the binary interface between trainrt and compiled modules (shared libraries with train functions). The
/// version is increased when a change of a public header breaks compiled modules.
inline constexpr int module_abi = 8;
/// The train functions of a module (a shared library), which exports this struct as the symbol `trainrt_module`.
struct Module {
  int abi = module_abi;
  int function_count = 0;
  const TrainFunction* functions = nullptr;
};

}  // namespace trainrt

/// Exports one train function from a shared library, which config key train.library loads. Initializers of further fields
/// of TrainFunction may follow: TRAINRT_TRAIN_FUNCTION("mine", train, .loop = keys, .datasets = "train").
#define TRAINRT_TRAIN_FUNCTION(NAME, FUNCTION, ...)                  \
  namespace {                                                        \
  const ::trainrt::TrainFunction trainrt_module_functions[] = {      \
      {.name = NAME, .train = FUNCTION __VA_OPT__(, ) __VA_ARGS__}}; \
  }                                                                  \
  extern "C" TRAINRT_API const ::trainrt::Module trainrt_module;     \
  const ::trainrt::Module trainrt_module = {::trainrt::module_abi, 1, trainrt_module_functions};
