#pragma once
#include <filesystem>
#include <vector>

namespace trainrt {

/// Returns the folders that are searched for trainrt's loadable modules (shared libraries):
/// - If the environment variable TRAINRT_MODULE_PATH is set: the folders in it, separated by ':'.
/// - Otherwise: modules/ and ../lib/trainrt/modules/ next to the program. If trainrt is a library that another program
///   uses, also modules/ and trainrt/modules/ next to the library.
std::vector<std::filesystem::path> module_folders();

/// Returns whether `file` is an absolute path of a file directly in one of module_folders(). Such a module comes from the
/// installation of trainrt or from the user's environment.
bool is_installed_module(const std::filesystem::path& file);

}  // namespace trainrt
