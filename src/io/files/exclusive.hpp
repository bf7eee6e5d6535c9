#pragma once
#include <string>

namespace trainrt::io {

/// Creates the file `path` with `content`, complete and durable; returns false if it already exists. If several processes
/// on several nodes call this, exactly one gets true: the file appears by link(2), which is atomic on POSIX file systems,
/// including NFS.
bool create_exclusive(const std::string& path, const std::string& content);

/// Returns the seconds since the file's last change, by the clock of its file system: compares it with a temporary file
/// that it creates in the same directory.
double age_seconds(const std::string& path);

/// Sets the file's time of last change to now. Ignores errors.
void touch(const std::string& path);

}  // namespace trainrt::io
