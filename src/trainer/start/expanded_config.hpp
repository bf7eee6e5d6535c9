#pragma once
#include <map>
#include <string>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt::trainer {

/// Returns a config with the environment variables in all paths expanded (core/path_text.hpp), except for the paths in
/// [loop], which config::take_declared() expands. Must be called once for each config that is read, before
/// config::make_run_spec(), so that run.json records the expanded paths. Throws UsageError that names the key, its origin
/// and the variable.
Options expanded_config(const Options& given, const Environment& environment);

/// The same for settings that a program passes, by key.
std::map<std::string, std::string> expanded_settings(const std::map<std::string, std::string>& settings,
                                                     const Environment& environment);

/// Returns the inverse of expanded_config(): a config that it expands to `expanded`.
Options written_config(const Options& expanded);

}  // namespace trainrt::trainer
