#pragma once
#include <string>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt {

/// Expands environment variables in a config value: returns `value` with each ${NAME} replaced by the environment variable
/// NAME, and each $$ by one $. `key` is the config key for error messages. Throws UsageError, which names the key, the
/// value's origin and the variable, in these cases:
/// - A variable is not set, is empty or has no closing brace.
/// - The value has the shell forms $NAME or ~ (also after a comma or @). The message shows the valid form.
OptionValue expanded_path(const std::string& key, const OptionValue& value, const Environment& environment);

/// Escapes `path` for a config file: returns the text from which expanded_path() returns `path`.
std::string written_path(const std::string& path);

}  // namespace trainrt
