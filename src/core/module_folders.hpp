#pragma once
#include <filesystem>
#include <vector>

namespace trainrt {

/// Where loadable modules are looked for: in TRAINRT_MODULE_PATH (folders, ':' between), or else beside the program, and
/// beside the library in a program of one's own: modules/ and ../lib/trainrt/modules/, or trainrt/modules/.
std::vector<std::filesystem::path> module_folders();

/// Returns whether the file is in one of them, as whoever installed trainrt, or the caller's environment, has put it.
bool is_installed_module(const std::filesystem::path& file);

}  // namespace trainrt
