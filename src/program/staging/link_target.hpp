#pragma once
#include <string>

namespace trainrt::program::stage {

/// Returns the target for a symbolic link in a copy of the tree at `root` (an absolute, canonical path). `name`: path
/// of the link in the tree; `target`: original target. If the target is in the tree, the result is a relative path and
/// leads to the copy of the target. If the target is outside of the tree and relative, the result is its absolute path.
/// Compares paths only and follows no links. Pure function.
std::string link_target(const std::string& root, const std::string& name, const std::string& target);

}  // namespace trainrt::program::stage
