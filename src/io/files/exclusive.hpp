#pragma once
#include <string>

namespace trainrt::io {

/// Creates the file `path` with `content`, complete and durable. Returns false if the file already exists. If several
/// processes call this function for the same path, even on several nodes, exactly one of them gets true. The file is
/// created by link(2), which is atomic on POSIX file systems, including NFS.
bool create_exclusive(const std::string& path, const std::string& content);

/// Returns the seconds since the file's modification time (mtime), by the clock of the file's file system. To read this
/// clock, the function creates a temporary file in the same directory.
double age_seconds(const std::string& path);

/// Sets the file's modification time (mtime) to now. Ignores errors.
void touch(const std::string& path);

}  // namespace trainrt::io
