#pragma once
#include <trainrt/train_function.hpp>

#include "core/plugin.hpp"

namespace trainrt {

/// The train functions in frameworks/builtin, one a file.
PluginTable<TrainFunction> builtin_functions();

}  // namespace trainrt
