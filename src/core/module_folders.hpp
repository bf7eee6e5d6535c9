#pragma once
#include <filesystem>
#include <vector>

namespace trainrt {

/// Returns the folders that are searched for loadable modules: those of TRAINRT_MODULE_PATH (separated by ':') if it is
/// set, else modules/ and ../lib/trainrt/modules/ next to the program. If trainrt is a library of another program, also
/// modules/ and trainrt/modules/ next to the library.
std::vector<std::filesystem::path> module_folders();

/// Returns whether the file is in one of module_folders(), so that it comes from the installation of trainrt or from the
/// user's environment.
bool is_installed_module(const std::filesystem::path& file);

}  // namespace trainrt
