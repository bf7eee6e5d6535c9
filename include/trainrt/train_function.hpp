#pragma once
#include <string_view>

#include <trainrt/context.hpp>

namespace trainrt {

/// A train function under its name, as [train] function selects it.
struct TrainFunction {
  std::string_view name;
  std::string_view help;
  void (*train)(Context&) = nullptr;
};

/// The binary interface of a loadable module: the program looks for the symbol `trainrt_module` in it.
/// `abi` changes whenever a public header does in a way that breaks compiled modules.
inline constexpr int module_abi = 2;
struct Module {
  int abi = module_abi;
  int function_count = 0;
  const TrainFunction* functions = nullptr;
};

}  // namespace trainrt

/// Makes a shared library with one train function loadable by `[train] library = PATH`.
#define TRAINRT_TRAIN_FUNCTION(NAME, FUNCTION)                                        \
  namespace {                                                                         \
  const ::trainrt::TrainFunction trainrt_module_functions[] = {{NAME, "", FUNCTION}}; \
  }                                                                                   \
  extern "C" TRAINRT_API const ::trainrt::Module trainrt_module;                      \
  const ::trainrt::Module trainrt_module = {::trainrt::module_abi, 1, trainrt_module_functions};
