#pragma once
#include <string>
#include <string_view>

namespace trainrt::io {

/// A name beside `path` for a file or directory that will become it: ".NAME.tmp.HOST.PID", of this process alone.
std::string temporary_beside(const std::string& path);

/// Removes the files and directories of such names in a directory whose process is gone: this host's whose process number
/// nobody has, and any that are a day old; only those whose NAME begins so. Says nothing of what cannot be removed.
void remove_abandoned(const std::string& directory, std::string_view beginning = {});

}  // namespace trainrt::io
