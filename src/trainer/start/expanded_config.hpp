#pragma once
#include <map>
#include <string>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt::trainer {

/// Returns the config `given` with the environment variables in paths expanded, as core/path_text.hpp describes. Paths in
/// [loop] are not expanded; config::take_declared() expands them. Must be called once for each config that is read, before
/// config::make_run_spec(), so that run.json records the expanded paths. Throws UsageError that names the key, its origin
/// and the variable.
Options expanded_config(const Options& given, const Environment& environment);

/// Returns `settings`, config values that a program has set, with the environment variables in paths expanded as in
/// expanded_config(). The keys of the map are config keys.
std::map<std::string, std::string> expanded_settings(const std::map<std::string, std::string>& settings,
                                                     const Environment& environment);

/// The inverse of expanded_config(): returns a config that expanded_config() expands to `expanded`.
Options written_config(const Options& expanded);

}  // namespace trainrt::trainer
