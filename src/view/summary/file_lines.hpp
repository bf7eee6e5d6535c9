#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trainrt::view {

/// Calls `take` with each line of a file, in order and without its newline. A last line without a newline is included.
/// Holds 1 MiB of the file at a time. Throws StorageError if the file cannot be read.
void for_each_line(const std::string& path, const std::function<void(std::string_view)>& take);

}  // namespace trainrt::view
