#pragma once
#include <string>
#include <string_view>

namespace trainrt::io {

/// Returns a path in the same directory, ".NAME.tmp.HOST.PID", that only this process uses. For a file or directory that is
/// renamed to `path` when it is complete.
std::string temporary_beside(const std::string& path);

/// Removes files and directories with such names that a process left behind: those of a process of this host that does not
/// run, and all that are more than a day old. Considers only names that begin with `prefix`. Ignores errors.
void remove_abandoned(const std::string& directory, std::string_view prefix = {});

}  // namespace trainrt::io
