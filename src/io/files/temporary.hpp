#pragma once
#include <string>
#include <string_view>

namespace trainrt::io {

/// Returns the path of a temporary file or directory that is renamed to `path` when it is complete: ".NAME.tmp.HOST.PID"
/// in the same directory. No other process uses this path.
std::string temporary_beside(const std::string& path);

/// Removes temporary files and directories, named by temporary_beside(), that other processes left in `directory`. These
/// are removed: those of processes of this host that are no longer running, and all that are more than a day old.
///
/// Only temporary files for files whose names begin with `prefix` are removed. Errors are ignored.
void remove_abandoned(const std::string& directory, std::string_view prefix = {});

}  // namespace trainrt::io
