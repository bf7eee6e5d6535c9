#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "config/declared.hpp"
#include "core/plugin.hpp"

namespace trainrt::trainer {

/// A train function as `trainrt list` and `trainrt check` know it; those of modules come from the small index beside the
/// module, which need not be loaded for that.
struct FunctionEntry {
  std::string name;
  std::string help;
  std::string module;  ///< path of the shared library, "" = built in
  config::Declared declared;
};

/// Built-in functions, then those of the modules found in TRAINRT_MODULE_PATH (folders, ':' between), or else beside the
/// program: modules/ and ../lib/trainrt/modules/.
std::vector<FunctionEntry> available_functions(PluginTable<TrainFunction> built_in);

/// The entry of the function that load_function() finds. A library is loaded for it only if there is no index beside it
/// that knows the function (libmine.json beside libmine.so). UsageError as there.
FunctionEntry find_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library);

/// Finds a function by name, loading its module, or the one in a user's `library` (its first, if `name` is ""). Throws
/// UsageError that lists the names there are, or says why a library cannot be loaded.
TrainFunction load_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library);

}  // namespace trainrt::trainer
