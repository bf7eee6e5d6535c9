#pragma once
#include <span>
#include <string>

namespace trainrt {

/// Returns whether the patterns select the name. A pattern is a glob (fnmatch(3): * ? []; * also matches '/'); with a
/// leading
/// '!' it excludes the names that match. The last matching pattern decides. If no pattern matches, the name is selected
/// only if the first pattern excludes. A name that begins with "trainrt/" is matched only by patterns that begin so. Pure
/// function.
bool is_selected_by(std::span<const std::string> patterns, const std::string& name);

}  // namespace trainrt
