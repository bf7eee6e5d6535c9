#include "core/files/similar_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/text/text.hpp"

namespace trainrt {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_entries = 10'000;  // limit per folder, since the search only improves an error message
constexpr int max_candidates = 5;

/// Returns the names of the directories in `folder`, without hidden ones; an empty list if it cannot be read.
std::vector<std::string> directories_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, options, error);
  for (std::size_t count = 0; !error && entry != fs::directory_iterator() && count < max_entries; ++count) {
    const auto name = entry->path().filename().string();
    std::error_code unreadable;
    if (!name.starts_with('.') && entry->is_directory(unreadable)) names.push_back(name);
    entry.increment(error);
  }
  std::ranges::sort(names);  // the result does not depend on the file system
  return names;
}

bool has_marker(const fs::path& directory, std::span<const std::string_view> markers) {
  std::error_code error;
  return std::ranges::any_of(markers, [&](auto marker) { return fs::exists(directory / marker, error); });
}

bool is_marked(const fs::path& directory, std::span<const std::string_view> markers) {
  if (has_marker(directory, markers)) return true;
  const auto names = directories_in(directory);
  return std::ranges::any_of(names, [&](const auto& name) { return has_marker(directory / name, markers); });
}

}  // namespace

std::string similar_directory(const std::string& path, std::span<const std::string_view> markers) {
  std::error_code error;
  fs::path parent;
  auto all = fs::path(path).lexically_normal();
  if (!all.has_filename()) all = all.parent_path();  // removes a slash at the end
  auto component = all.begin();
  while (component != all.end() && fs::is_directory(parent / *component, error)) parent /= *component++;
  if (component == all.end()) return "";
  const auto missing = (component++)->string();
  fs::path rest;
  for (; component != all.end(); ++component) rest /= *component;
  auto names = directories_in(parent);
  for (int tries = 0; tries < max_candidates; ++tries) {
    const auto near = nearest(missing, names);
    if (near.empty()) return "";
    const auto found = rest.empty() ? parent / near : parent / near / rest;
    if (fs::is_directory(found, error) && is_marked(found, markers)) return found.string();
    std::erase(names, near);
  }
  return "";
}

}  // namespace trainrt
