#pragma once
#include <string>

namespace trainrt::cli {

/// A config with every key, its default and what it is for, made from the declarations: what `trainrt help config` prints,
/// and the guide to the config shows. With the required keys filled in it is a config that runs.
std::string config_page();

}  // namespace trainrt::cli
