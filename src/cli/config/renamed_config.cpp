#include "cli/config/renamed_config.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/config/config_file.hpp"
#include "config/renamed_keys.hpp"
#include "io/files/file.hpp"

namespace trainrt::cli {

namespace {

struct Renaming {
  std::string old_name, new_name;
};

/// Returns the renamed keys of a config by their origin, "PATH:LINE".
std::map<std::string, Renaming> renamings_of(const Options& options) {
  std::map<std::string, Renaming> renamings;
  for (const auto& key : options.keys()) {
    const auto new_name = config::new_name_of(key);
    if (!new_name) continue;
    const auto& origin = options.find(key)->origin;
    if (const auto* other = options.find(*new_name))
      throw UsageError(fmt::format("{}: the key {} is now named {}, which is also set at {}. Remove one of the two lines",
                                   origin, key, *new_name, other->origin));
    renamings.emplace(origin, Renaming{key, *new_name});
  }
  return renamings;
}

std::string name_in_section(const std::string& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

RenamedConfig renamed_config(const std::string& path) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
    throw UsageError(fmt::format("the config '{}' is not a regular file", path));
  const auto renamings = renamings_of(read_config_file_with_old_names(path));
  const auto text = io::read_file(path);
  RenamedConfig renamed;
  std::size_t at = 0;
  for (int number = 1; at < text.size(); ++number) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    auto line = text.substr(at, end - at);
    const auto origin = fmt::format("{}:{}", path, number);
    if (const auto found = renamings.find(origin); found != renamings.end()) {
      const auto& [old_name, new_name] = found->second;
      const auto old_word = name_in_section(old_name);
      line.replace(line.rfind(old_word, line.find('=')), old_word.size(), name_in_section(new_name));
      renamed.changes.push_back(fmt::format("{}: {} is now {}", origin, old_name, new_name));
    }
    renamed.text += line;
    at = end;
  }
  return renamed;
}

}  // namespace trainrt::cli
