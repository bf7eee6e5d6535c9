#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <trainrt/export.hpp>

namespace trainrt {

class Context;
class Predictions;

/// The type of a [loop] key. A `path` is a string that names a file or folder, in which ${NAME} is replaced by the
/// environment variable NAME.
enum class LoopType : std::uint8_t { text, integer, real, boolean, path };

/// The declaration of a [loop] key of a train function. Values are checked before a run starts and by `trainrt check`,
/// `trainrt list` shows the key, and ctx.config("key") returns the default if the config does not set it.
struct LoopKey {
  std::string_view key;
  LoopType type = LoopType::text;
  std::string_view default_value = "";  ///< as written in a config; "": no default
  std::string_view help = "";
  bool required = false;
  double least = -std::numeric_limits<double>::infinity();  ///< minimum of a number; NaN and infinity are never valid
  double most = std::numeric_limits<double>::infinity();    ///< maximum of a number
  double below = std::numeric_limits<double>::infinity();   ///< exclusive maximum of a number
  std::string_view choices = "";                            ///< valid values of a text: "sgd, adamw"; "": any
};

/// The description of a train function, which key `function` of section [train] selects by name.
struct TrainFunction {
  std::string_view name;
  std::string_view help = "";
  void (*train)(Context&) = nullptr;  ///< the train function (Ray: train_loop_per_worker), called on every rank
  /// All [loop] keys that the function reads; other keys are errors. If empty, every key is accepted.
  std::span<const LoopKey> loop = {};
  std::string_view datasets = "";  ///< the NAME of each required [data.NAME]: "train, test"
  bool takes_other_keys = false;   ///< accept [loop] keys that `loop` does not declare
  /// Applies a trained model to a dataset, for `trainrt predict` (predictions.hpp). Null if the function cannot predict.
  void (*predict)(Context&, Predictions&) = nullptr;
  /// Checks config and data for `trainrt check`, on one rank, with a few samples of each dataset. It does what `train` does
  /// before restore(), and a first step as far as a login node allows, and throws the same UsageErrors. It must not call
  /// restore(), step() or report(). If null, such errors are found only when the run starts.
  void (*check)(Context&) = nullptr;
};

/// The version of the binary interface between trainrt and compiled modules. It is increased when a change of a public
/// header breaks them.
inline constexpr int module_abi = 8;
/// The content of a loadable module, which exports it as the symbol `trainrt_module`.
struct Module {
  int abi = module_abi;
  int function_count = 0;
  const TrainFunction* functions = nullptr;
};

}  // namespace trainrt

/// Exports one train function from a shared library, which `[train] library = PATH` loads. Further fields of TrainFunction
/// may follow: TRAINRT_TRAIN_FUNCTION("mine", train, .loop = keys, .datasets = "train").
#define TRAINRT_TRAIN_FUNCTION(NAME, FUNCTION, ...)                  \
  namespace {                                                        \
  const ::trainrt::TrainFunction trainrt_module_functions[] = {      \
      {.name = NAME, .train = FUNCTION __VA_OPT__(, ) __VA_ARGS__}}; \
  }                                                                  \
  extern "C" TRAINRT_API const ::trainrt::Module trainrt_module;     \
  const ::trainrt::Module trainrt_module = {::trainrt::module_abi, 1, trainrt_module_functions};
