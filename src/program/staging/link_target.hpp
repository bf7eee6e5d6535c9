#pragma once
#include <string>

namespace trainrt::program::stage {

/// What a symbolic link of a tree at `root` (an absolute path, canonical) is to point at in a copy of the tree, so that it
/// leads where it led: within the tree to the copy, by a relative path; else to the place outside, by an absolute one.
/// `name`: of the link in the tree. Pure, by the words of the paths: no link on the way is followed.
std::string link_target(const std::string& root, const std::string& name, const std::string& target);

}  // namespace trainrt::program::stage
