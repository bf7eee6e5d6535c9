#include "program/staging/link_target.hpp"

#include <filesystem>

namespace trainrt::program::stage {

std::string link_target(const std::string& root, const std::string& name, const std::string& target) {
  const std::filesystem::path folder = (std::filesystem::path(root) / name).parent_path();
  const auto aim = (folder / target).lexically_normal();  // operator/ discards `folder` if `target` is absolute
  const auto within = aim.lexically_relative(root);
  const bool is_inside = !within.empty() && *within.begin() != "..";
  if (std::filesystem::path(target).is_absolute()) return is_inside ? aim.lexically_relative(folder).string() : target;
  return is_inside ? target : aim.string();
}

}  // namespace trainrt::program::stage
