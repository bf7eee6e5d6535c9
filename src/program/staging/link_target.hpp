#pragma once
#include <string>

namespace trainrt::program::stage {

/// Returns the target of a symbolic link in a copy of the tree at `root` (an absolute, canonical path): a relative path for
/// a target in the tree, which then is in the copy, and an absolute path for a target outside. `name`: path of the link in
/// the tree. Compares paths only and follows no links. Pure.
std::string link_target(const std::string& root, const std::string& name, const std::string& target);

}  // namespace trainrt::program::stage
