#include "program/staging/staged_tree.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include "core/process/spawn.hpp"
#include "core/text/text.hpp"
#include "program/children/script.hpp"

namespace trainrt::program::stage {

namespace fs = std::filesystem;

namespace {

bool has(const fs::path& root, const char* name) {
  std::error_code none;
  return fs::exists(fs::symlink_status(root / name, none));
}

bool is_environment(const fs::path& root) { return has(root, "bin") || has(root, "pyvenv.cfg") || has(root, "conda-meta"); }

/// Returns the root of the tree in `folder`: the only subfolder if it is a Python environment, otherwise `folder`. `tar cf
/// venv.tar venv` adds such a subfolder, `tar -C venv -cf venv.tar .` does not.
std::string root_in(const std::string& folder) {
  if (is_environment(folder)) return folder;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  const bool is_around = entries.size() == 1 && !fs::is_symlink(entries[0]) && fs::is_directory(entries[0]);
  return is_around && is_environment(entries[0]) ? entries[0].string() : folder;
}

std::vector<std::string> package_folders(const fs::path& root) {
  std::vector<std::string> found = {root.string()};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root / "lib", none))
    if (entry.path().filename().string().starts_with("python3") && has(entry.path(), "site-packages"))
      found.push_back((entry.path() / "site-packages").string());
  return found;
}

}  // namespace

StagedTree::StagedTree(std::string folder, std::string source)
    : root_(root_in(folder)), source_(fs::absolute(source).lexically_normal().string()) {
  while (source_.size() > 1 && source_.ends_with('/')) source_.pop_back();
}

Variables StagedTree::variables(const Variables& inherited) const {
  const auto before = [&](const char* name, const char* default_value) {
    const auto found = inherited.find(name);
    return found == inherited.end() || found->second.empty() ? std::string(default_value) : found->second;
  };
  Variables found = {{"TRAINRT_STAGE", root_}};
  if (has(root_, "bin")) found["PATH"] = root_ + "/bin:" + before("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (has(root_, "pyvenv.cfg")) found["VIRTUAL_ENV"] = root_;
  if (has(root_, "conda-meta")) found["CONDA_PREFIX"] = root_;
  if (has(root_, "bin/python3") || has(root_, "bin/python")) return found;
  auto folders = package_folders(root_);
  if (const auto others = before("PYTHONPATH", ""); !others.empty()) folders.push_back(others);
  found["PYTHONPATH"] = join(folders, ":");
  return found;
}

std::string StagedTree::in_tree(const std::string& path) const {
  if (path.find('/') == std::string::npos) return path;
  const auto absolute = fs::absolute(path).lexically_normal().string();
  return absolute.starts_with(source_ + "/") ? root_ + absolute.substr(source_.size()) : path;
}

std::vector<std::string> StagedTree::command_in_tree(std::vector<std::string> command) const {
  const auto script = script_of(command);
  if (const auto at = std::ranges::find(command, script); !script.empty() && at != command.end()) *at = in_tree(script);
  command.front() = in_tree(command.front());
  return command;
}

std::string StagedTree::executable(const std::string& name) const {
  const auto inner = name.find('/') == std::string::npos ? find_executable(root_ + "/bin/" + name) : std::string();
  return inner.empty() ? find_executable(name) : inner;
}

}  // namespace trainrt::program::stage
