#include "data/section/referenced_files.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/text/text.hpp"
#include "data/bytes/by_order.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/dataset_options.hpp"
#include "data/source/format.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

void add_paths(std::set<std::string>& keys, std::span<const OptionSpec> options) {
  for (const auto& option : options)
    if (option.type == OptionType::path) keys.insert(option.key);
}

/// Returns the keys, of all formats, that have paths as values.
std::set<std::string> path_keys() {
  std::set<std::string> keys;
  add_paths(keys, common_options());
  for (const auto* format : format_table()) add_paths(keys, format->options);
  return keys;
}

/// Returns the keys that may have @FILE as value, in the order in which they are applied.
std::vector<std::string> marked_keys() {
  std::vector<std::string> keys{"subset", "preprocess"};
  for (const auto* kind : by_order(operation_table()))
    if (kind->reads_file) keys.emplace_back(kind->name);
  return keys;
}

}  // namespace

bool names_files(const std::string& key, const std::string& text) {
  static const auto paths = path_keys();
  static const auto marked = marked_keys();
  return paths.contains(key) || (text.starts_with('@') && std::ranges::find(marked, key) != marked.end());
}

std::vector<DataFile> referenced_files(const Options& options) {
  std::vector<DataFile> files;
  for (const auto& key : marked_keys())
    if (const auto text = options.text(key); text.starts_with('@'))
      for (auto& file : list_data_files(trim(std::string_view(text).substr(1)))) files.push_back(std::move(file));
  return files;
}

}  // namespace trainrt::data
