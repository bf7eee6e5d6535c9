#pragma once
#include <string>

namespace trainrt::io {

/// A name beside `path` for a file that will become it: ".NAME.tmp.HOST.PID", of this process alone.
std::string temporary_beside(const std::string& path);

/// Removes the files of such names in a directory whose process is gone: this host's whose process number nobody has, and
/// any that are a day old. Says nothing of what cannot be removed.
void remove_abandoned(const std::string& directory);

}  // namespace trainrt::io
