#include "core/module_folders.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <dlfcn.h>

#include "core/environment.hpp"

namespace trainrt {

namespace fs = std::filesystem;

namespace {

/// Returns the folder of the program or shared library that contains this function; empty if it cannot be found.
fs::path folder_of_this_code() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&module_folders), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code none;
  return fs::canonical(info.dli_fname, none).parent_path();
}

}  // namespace

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  if (const auto path = Environment::of_process().text("TRAINRT_MODULE_PATH")) {
    std::istringstream in(*path);
    for (std::string folder; std::getline(in, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
    return folders;
  }
  std::error_code none;
  const auto program = fs::read_symlink("/proc/self/exe", none).parent_path();
  folders = {program / "modules", program.parent_path() / "lib" / "trainrt" / "modules"};
  const auto library = folder_of_this_code();
  if (!library.empty() && library != program) {
    folders.push_back(library / "modules");
    folders.push_back(library / "trainrt" / "modules");
  }
  return folders;
}

bool is_installed_module(const fs::path& file) {
  std::error_code none;
  const auto folder = fs::canonical(file.parent_path(), none);
  return file.is_absolute() && !none && std::ranges::any_of(module_folders(), [&](const fs::path& each) {
           std::error_code missing;
           return fs::canonical(each, missing) == folder && !missing;
         });
}

}  // namespace trainrt
