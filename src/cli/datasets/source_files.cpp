#include "cli/datasets/source_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/referenced_files.hpp"

namespace trainrt::cli::datasets {

namespace fs = std::filesystem;

namespace {

/// What is not there, and an object, is no file of that name.
bool is_same_file(const std::string& path, const std::string& other) {
  std::error_code none;
  return !other.empty() && fs::equivalent(path, other, none);
}

bool is_among(const std::string& path, const std::vector<data::DataFile>& files) {
  return std::ranges::any_of(files, [&](const auto& file) { return is_same_file(path, file.path); });
}

bool holds(const data::Listing& listing, const std::string& path) {
  return std::ranges::any_of(listing.entries, [&](const auto& entry) {
    return is_same_file(path, entry.file.path) || is_among(path, entry.file.companions) ||
           is_among(path, entry.content.sources);
  });
}

/// A list (@FILE) of the sources themselves, or of their companions.
bool is_list_of_files(const std::string& path, const data::Listing& listing, const Options& keys) {
  std::vector<std::string_view> of_files{"source"};
  const auto& companions = find_plugin(data::format_table(), listing.format, "data format").companions;
  of_files.insert(of_files.end(), companions.begin(), companions.end());
  return std::ranges::any_of(of_files, [&](std::string_view key) {
    const auto text = keys.text(key);
    return !text.empty() && std::ranges::any_of(data::words_of_source(text), [&](const std::string& word) {
      return word.starts_with('@') && is_same_file(path, trim(std::string_view(word).substr(1)));
    });
  });
}

}  // namespace

void refuse_source(const std::string& path, const std::string& dataset, const data::Listing& listing, const Options& keys) {
  const auto section = data::section_of(dataset);
  if (holds(listing, path))
    throw UsageError(fmt::format("'{}' is a source itself, of {}: choose another name", path, section));
  if (is_list_of_files(path, listing, keys) || is_among(path, data::referenced_files(keys)))
    throw UsageError(fmt::format("'{}' is a file that a key of {} names: choose another name", path, section));
}

}  // namespace trainrt::cli::datasets
