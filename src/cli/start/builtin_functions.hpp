#pragma once
#include <trainrt/train_function.hpp>

#include "core/plugin.hpp"

namespace trainrt {

/// Returns the train functions of frameworks/builtin; each file there defines one.
PluginTable<TrainFunction> builtin_functions();

}  // namespace trainrt
