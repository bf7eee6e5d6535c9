#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "config/declared.hpp"
#include "core/plugin.hpp"

namespace trainrt::trainer {

/// The description of a train function, for `trainrt list` and `trainrt check`. The description of a function in a module
/// is read from the module's index file, so that the module need not be loaded.
struct FunctionEntry {
  std::string name;
  std::string help;
  std::string module;  ///< path of the shared library; "": built in
  config::Declared declared;
};

/// Returns the built-in functions and those of all modules in the module folders: the folders in TRAINRT_MODULE_PATH,
/// separated by ':', or else modules/ and ../lib/trainrt/modules/ relative to the program.
std::vector<FunctionEntry> available_functions(PluginTable<TrainFunction> built_in);

/// Returns the description of the function that load_function() finds. Loads a library only if it has no index file
/// (libmine.json for libmine.so) with the function. Throws UsageError like load_function().
FunctionEntry find_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library);

/// Returns the train function `name`, and loads its module if necessary. If `library` is not "", the function is searched
/// in that shared library only; its first function is used if `name` is "". Throws UsageError if the function does not
/// exist, with the existing names, or if a library cannot be loaded.
TrainFunction load_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library);

}  // namespace trainrt::trainer
