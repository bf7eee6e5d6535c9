#include "core/process/child_environment.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/environment.hpp"

namespace trainrt {

namespace {

bool is_of_launcher(std::string_view name) {
  constexpr std::array<std::string_view, 4> beginnings = {"PMI_", "PMIX_", "HYDI_", "MPI_LOCAL"};
  return std::ranges::any_of(beginnings, [&](auto beginning) { return name.starts_with(beginning); });
}

}  // namespace

Variables inherited_environment() { return Environment::of_process().values(); }

Variables without_launcher(Variables variables) {
  std::erase_if(variables, [](const auto& variable) { return is_of_launcher(variable.first); });
  return variables;
}

std::string client_folder() {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto here = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const auto& folder : {here / "python", here.parent_path() / "lib/trainrt/python"})
    if (fs::exists(folder / "trainrt/__init__.py", none)) return folder.string();
  return "";
}

std::string python_path(const std::string& folder, const std::string& inherited) {
  return inherited.empty() || folder.empty() ? folder + inherited : folder + ":" + inherited;
}

}  // namespace trainrt
