#pragma once
#include <string>

namespace trainrt::io {

/// Throws the StorageError of a rename that failed, which names both paths, or the symbolic link on one of them.
[[noreturn]] void fail_to_rename(const std::string& from, const std::string& to, int error_number);

}  // namespace trainrt::io
