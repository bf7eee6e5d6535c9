#pragma once
#include <string>
#include <vector>

#include <trainrt/train_function.hpp>

#include "config/run_spec.hpp"
#include "core/options.hpp"

namespace trainrt::config {

/// The declarations of a train function, from its TrainFunction or from the index file of its module.
struct Declared {
  std::vector<OptionSpec> loop;        ///< its keys of [loop]; empty: all keys are accepted
  std::vector<std::string> datasets;   ///< names of the datasets that it requires
  bool takes_other_keys = false;       ///< accepts keys besides `loop`, and gets them unchecked
  std::vector<std::string> code = {};  ///< keys of `loop` that name files with code: only the caller may set them
};

Declared declared_by(const TrainFunction& function);

/// Checks [loop] and the dataset names of `spec` against the declarations of `function`, stores the defaults of missing
/// keys in `spec.loop_defaults`, and expands environment variables in the paths of `spec.loop` (core/path_text.hpp). Must
/// be called once per spec. Throws UsageError that names the origin, the valid names and the nearest one.
void take_declared(const Declared& declared, const std::string& function, RunSpec& spec);

}  // namespace trainrt::config
