#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "config/run_spec.hpp"
#include "core/options.hpp"

namespace trainrt::config {

/// What a train function declares: in its TrainFunction, or in the index beside its module.
struct Declared {
  std::vector<OptionSpec> loop;        ///< its keys of [loop]; empty: it declares none, and takes all
  std::vector<std::string> datasets;   ///< the [data.NAME] that it cannot do without
  bool takes_other_keys = false;       ///< besides those of `loop`: they are handed on as they are
  std::vector<std::string> code = {};  ///< keys of `loop` whose files are code: nothing but a caller may choose them
};

Declared declared_by(const TrainFunction& function);

/// Checks [loop] and the names of the datasets against what the function declares, and takes its defaults into
/// `spec.loop_defaults`. Expands the environment variables of paths in `spec.loop` (core/path_text.hpp): to be called once.
/// Throws UsageError with the place, what is valid and the nearest name.
void take_declared(const Declared& declared, const std::string& function, RunSpec& spec);

}  // namespace trainrt::config
