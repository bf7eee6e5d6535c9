#pragma once
#include <span>
#include <string>

namespace trainrt {

/// Returns whether a list of patterns selects `name`. Pure function. Rules:
/// - A pattern is a glob (fnmatch(3): * ? []); * also matches '/'.
/// - A pattern with a leading '!' excludes the names that it matches.
/// - The last matching pattern decides. If no pattern matches, the name is selected only if the first pattern has a leading
///   '!'.
/// - A name that begins with `trainrt/` is matched only by patterns with the same beginning, after a leading '!' if there
///   is one.
bool is_selected_by(std::span<const std::string> patterns, const std::string& name);

}  // namespace trainrt
