#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "config/declared.hpp"
#include "core/plugin.hpp"

namespace trainrt::trainer {

/// The description of a train function, for `trainrt list` and `trainrt check`. If the function is in a module, the
/// description is read from the module's index file, and the module is not loaded.
struct FunctionEntry {
  std::string name;
  std::string help;
  std::string module;  ///< path of the shared library; "": built in
  config::Declared declared;
};

/// Returns the descriptions of the built-in functions, and of the functions of all modules in the module folders. The
/// module folders are the folders in environment variable TRAINRT_MODULE_PATH, separated by ':'. Without this variable,
/// they are modules/ and ../lib/trainrt/modules/ relative to the program.
std::vector<FunctionEntry> available_functions(PluginTable<TrainFunction> built_in);

/// Returns the description of the function that load_function() finds. Loads a library only if its index file (libmine.json
/// for libmine.so) does not describe the function. Throws UsageError in the same cases as load_function().
FunctionEntry find_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library);

/// Returns the train function `name`, and loads its module if necessary. If `library` is not "", the function is searched
/// in the shared library `library` only; if `name` is "", the first function of the library is returned. Throws UsageError
/// if the function does not exist, with the names of the existing functions, or if a library cannot be loaded.
TrainFunction load_function(PluginTable<TrainFunction> built_in, const std::string& name, const std::string& library);

}  // namespace trainrt::trainer
