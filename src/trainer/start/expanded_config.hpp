#pragma once
#include <map>
#include <string>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt::trainer {

/// Returns a config's values with the environment variables of all paths expanded (core/path_text.hpp): those of declared
/// keys, of [data.NAME], of [sink.NAME] and of [callback.NAME]. Paths of [loop] are left to config::take_declared(), which
/// knows the train function. Whoever reads a config applies it once, before config::make_run_spec(), so that run.json
/// records the paths that were used. Throws UsageError that names key, origin and variable.
Options expanded_config(const Options& given, const Environment& environment);

/// The same for values that a program gives, by key.
std::map<std::string, std::string> expanded_settings(const std::map<std::string, std::string>& settings,
                                                     const Environment& environment);

/// Returns the values of which expanded_config() makes `expanded` again.
Options written_config(const Options& expanded);

}  // namespace trainrt::trainer
