#include "data/section/path_keys.hpp"

#include <set>
#include <span>

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

/// The keys whose complete value is paths, of any format.
std::set<std::string> path_keys() {
  std::set<std::string> keys;
  add_paths(keys, common_options());
  for (const auto* format : format_table()) add_paths(keys, format->options);
  for (const auto* transform : transform_table())
    if (transform->reads_file) keys.insert(std::string(transform->name));
  return keys;
}

/// The keys whose value may be @FILE.
std::set<std::string> marked_keys() {
  std::set<std::string> keys{"subset", "preprocess"};
  for (const auto* kind : operation_table())
    if (kind->reads_file) keys.insert(std::string(kind->name));
  return keys;
}

}  // namespace

bool names_files(const std::string& key, const std::string& text) {
  static const auto paths = path_keys(), marked = marked_keys();
  return paths.contains(key) || (text.starts_with('@') && marked.contains(key));
}

}  // namespace trainrt::data
