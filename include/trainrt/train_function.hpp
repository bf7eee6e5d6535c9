#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <trainrt/export.hpp>

namespace trainrt {

class Context;
class Predictions;

/// `path`: a text that names a file or folder; ${NAME} in it stands for an environment variable.
enum class LoopType : std::uint8_t { text, integer, real, boolean, path };

/// A key of [loop] that a train function reads, declared once: its values are checked before a run starts and by `trainrt
/// check`, `trainrt list` shows it, and ctx.config("key") gives the default if the config has none.
struct LoopKey {
  std::string_view key;
  LoopType type = LoopType::text;
  std::string_view default_value = "";  ///< as a config would have it; "": there is none
  std::string_view help = "";
  bool required = false;
  /// Of numbers; NaN and infinite values are never valid.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();  ///< a limit that is itself not valid
  std::string_view choices = "";                           ///< of a text: the valid words, "sgd, adamw"; "": any
};

/// A train function under its name, as [train] function selects it.
struct TrainFunction {
  std::string_view name;
  std::string_view help = "";
  void (*train)(Context&) = nullptr;
  /// All keys of [loop] that it knows: others are refused. Empty: it declares nothing, and everything is let through.
  std::span<const LoopKey> loop = {};
  std::string_view datasets = "";  ///< the [data.NAME] that it cannot do without: "train, test"
  bool takes_other_keys = false;   ///< of [loop], besides those that it declares
  /// What `trainrt predict` calls: a trained model over a dataset (predictions.hpp). nullptr: it cannot.
  void (*predict)(Context&, Predictions&) = nullptr;
  /// What `trainrt check` calls, on one rank with a few samples of each dataset: does what `train` does up to its restore()
  /// and first step, as far as a login node allows, and throws the same UsageErrors. It calls no restore(), step() or
  /// report(). nullptr: errors of the function's own are found when it starts.
  void (*check)(Context&) = nullptr;
};

/// The binary interface of a loadable module: the program looks for the symbol `trainrt_module` in it.
/// `abi` changes whenever a public header does in a way that breaks compiled modules.
inline constexpr int module_abi = 8;
struct Module {
  int abi = module_abi;
  int function_count = 0;
  const TrainFunction* functions = nullptr;
};

}  // namespace trainrt

/// Makes a shared library with one train function loadable by `[train] library = PATH`. What else it declares may follow:
/// TRAINRT_TRAIN_FUNCTION("mine", train, .loop = keys, .datasets = "train").
#define TRAINRT_TRAIN_FUNCTION(NAME, FUNCTION, ...)                  \
  namespace {                                                        \
  const ::trainrt::TrainFunction trainrt_module_functions[] = {      \
      {.name = NAME, .train = FUNCTION __VA_OPT__(, ) __VA_ARGS__}}; \
  }                                                                  \
  extern "C" TRAINRT_API const ::trainrt::Module trainrt_module;     \
  const ::trainrt::Module trainrt_module = {::trainrt::module_abi, 1, trainrt_module_functions};
