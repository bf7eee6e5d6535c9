#include "frameworks/trees/loaded_library.hpp"

#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace fs = std::filesystem;

namespace {

/// Returns the paths and file names of the library to try, in order.
std::vector<std::string> candidates(const LoadedLibrary::Search& search, const std::string& given) {
  if (given.empty()) return {search.names.begin(), search.names.end()};
  std::error_code ignored;
  if (!fs::is_directory(given, ignored)) return {fs::absolute(given).string()};
  std::vector<std::string> paths;
  for (const auto inside : search.in_packages) {
    const auto path = fs::absolute(given) / inside;
    if (fs::exists(path, ignored)) paths.push_back(path.string());
  }
  if (!paths.empty()) return paths;
  throw UsageError(
      fmt::format("[{}] library = {}: the folder has no {}", search.name, given, fmt::join(search.in_packages, " or ")));
}

}  // namespace

LoadedLibrary::LoadedLibrary(const Search& search, const std::string& given) : name_(search.name) {
  std::string tried;
  for (const auto& path : candidates(search, given)) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = path;
      return;
    }
    const auto* const reason = dlerror();
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", reason != nullptr ? reason : path);
  }
  throw UsageError(fmt::format("the library of {} cannot be loaded ({}): {}", name_, tried, search.advice));
}

void* LoadedLibrary::address_of(const char* name, bool is_required) const {
  auto* const address = dlsym(handle_, name);
  if (address == nullptr && is_required)
    throw UsageError(fmt::format("{} is not a library of {} that this train function can use: it lacks the function {}",
                                 path_, name_, name));
  return address;
}

}  // namespace trainrt::frameworks::trees
