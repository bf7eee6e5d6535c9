#pragma once
#include <string>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt {

/// Returns the value with each ${NAME} replaced by the environment variable NAME, and each $$ by one $. `key` names the
/// value in errors. Throws UsageError that names key, origin and variable if a variable is unset, empty or has no closing
/// brace, and if the value has the forms $NAME or ~, which a shell would expand: the error shows the right form. Of several
/// paths between commas, and of @FILE, each may not begin with ~.
OptionValue expanded_path(const std::string& key, const OptionValue& value, const Environment& environment);

/// Returns the text of which expanded_path() makes `path` again.
std::string written_path(const std::string& path);

}  // namespace trainrt
