#pragma once
#include <string>

namespace trainrt::io {

/// Makes `path` with this content, whole or not at all, durably; false if it exists already. Of several processes on
/// several nodes exactly one gets true: the file appears by link(2), which is atomic on POSIX file systems, NFS included.
bool create_exclusive(const std::string& path, const std::string& content);

/// Seconds since the file's last change, by the clock of its file system (a file made beside it tells the time).
double age_seconds(const std::string& path);

/// Sets the file's time of last change to now.
void touch(const std::string& path);

}  // namespace trainrt::io
