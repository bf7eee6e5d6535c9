#pragma once
#include <string>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt {

/// Returns the value with each ${NAME} replaced by the environment variable NAME, and each $$ by one $. `key` is the key's
/// name for errors. Throws UsageError that names key, origin and variable if a variable is unset, empty or has no closing
/// brace. The shell forms $NAME and ~ (also after a comma or @) are errors that show the valid form.
OptionValue expanded_path(const std::string& key, const OptionValue& value, const Environment& environment);

/// Returns the text that expanded_path() expands to `path`.
std::string written_path(const std::string& path);

}  // namespace trainrt
