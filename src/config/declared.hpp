#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "config/run_spec.hpp"
#include "core/options.hpp"

namespace trainrt::config {

/// The config keys and datasets that a train function declares, from its TrainFunction or from the index file of its
/// module.
struct Declared {
  /// keys of the config section [loop] that the function accepts; empty: all keys are accepted
  std::vector<OptionSpec> loop;
  std::vector<std::string> datasets;  ///< names of the datasets that the function requires
  /// true if the function also accepts other keys than those in `loop`; their values are not checked
  bool takes_other_keys = false;
  std::vector<std::string> code = {};  ///< keys of `loop` that name files with code, which only the caller may set
};

Declared declared_by(const TrainFunction& function);

/// Checks the [loop] section and the dataset names of `spec` against the declarations of train function `function`. Stores
/// the defaults of missing keys in `spec.loop_defaults`, and expands environment variables in the paths of `spec.loop`
/// (core/path_text.hpp). Must be called once per spec. Throws UsageError that names the origin of the invalid key or name,
/// the valid names, and the most similar one.
void take_declared(const Declared& declared, const std::string& function, RunSpec& spec);

/// Logs a warning for each dataset of `spec` with a name that looks like a misspelled name of a dataset that `function`
/// requires. A name that begins with the required name, such as train_eval, is not a misspelling: the function may read it,
/// too.
void warn_of_misspelled_datasets(const Declared& declared, const std::string& function, const RunSpec& spec);

}  // namespace trainrt::config
