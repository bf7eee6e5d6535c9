#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trainrt::view {

/// Gives each line of a file, without its end, in order: a last one without an end, too. Holds one piece of the file at a
/// time. StorageError if it cannot be read.
void for_each_line(const std::string& path, const std::function<void(std::string_view)>& take);

}  // namespace trainrt::view
