#pragma once
#include <string>

namespace trainrt::cli {

/// Returns a config with all keys, their defaults and their descriptions: the output of `trainrt help config`, which is
/// also the reference in the guide. The config is valid once its required keys are set.
std::string config_template();

}  // namespace trainrt::cli
