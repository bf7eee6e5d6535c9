#pragma once
#include <string>

namespace trainrt::io {

/// Exchanges what two names of one file system are the names of, files or directories. Both exist. Atomic where the file
/// system can do that (renameat2(2)); elsewhere `b` has no entry for a moment. Not durable: see sync_directory(). Throws
/// StorageError.
void exchange(const std::string& a, const std::string& b);

}  // namespace trainrt::io
