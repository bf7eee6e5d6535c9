#include "data/section/scan_files.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/batches/field_scan.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/log_once.hpp"
#include "data/section/identity.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/source/source.hpp"
#include "io/hdf5/untrusted/h5_guard.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

void add_companions(std::vector<DataFile>& files, const Options& options, const Format& format) {
  for (const auto key : format.companions) {
    std::vector<DataFile> found;
    if (const auto source = options.text(key); !source.empty()) found = list_data_files(source);
    if (!found.empty() && found.size() != files.size())
      throw UsageError(
          fmt::format("the key 'source' matches {} files, but the key '{}' matches {}; both must match the "
                      "same number of files",
                      files.size(), key, found.size()));
    for (std::size_t i = 0; i < files.size(); ++i) files[i].companions.push_back(found.empty() ? DataFile{} : found[i]);
  }
}

void note_heads(DataFile& file) {
  if (!file.path.empty()) file.head = head_digest(file);
  for (auto& companion : file.companions) note_heads(companion);
}

/// Returns the number of files of each source if the key `weights` mixes the sources; otherwise an empty list.
std::vector<std::size_t> files_of_sources(const Options& options, const Format& format) {
  std::vector<std::size_t> counts;
  if (options.text("weights").empty()) return counts;
  for (const auto& word : words_of_source(options.text("source")))
    counts.push_back(format.gather != nullptr ? 1 : list_data_files(word).size());
  return counts;
}

std::vector<DataFile> files_of(const Options& options, const Format& format) {
  if (!format.has_files) return {DataFile{}};
  auto files = list_data_files(options.text("source"));
  add_companions(files, options, format);
  return files;
}

std::string names_of(const std::vector<Dataset::Field>& fields) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  return excerpt(join(names), 200);
}

/// Returns the index of the field named `name`, or fields.size() if it does not exist.
std::size_t number_of(const std::vector<Dataset::Field>& fields, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(fields, name, &Dataset::Field::name) - fields.begin());
}

/// Returns advice, for an error message, on how to give a column the same type in two files. Returns "" if the format has
/// no key for the types of columns.
std::string advice_on(const Dataset::Field& one, const Dataset::Field& other, const Format& format) {
  const bool are_single = !one.varies && !other.varies && one.sample_shape.empty() && other.sample_shape.empty();
  if (!are_single || std::ranges::find(format.options, "types", &OptionSpec::key) == format.options.end()) return "";
  return fmt::format(": set types = {}:f64 to read both as f64", one.name);
}

/// Throws UsageError unless `other` has all fields of `entry`.
void require_fields_of(const Listing::Entry& entry, const Listing::Entry& other) {
  for (const auto& field : entry.content.fields)
    if (number_of(other.content.fields, field.name) == other.content.fields.size())
      throw UsageError(
          fmt::format("the files of a dataset must have the same fields, but '{}' has '{}', and '{}' has only {}",
                      entry.file.path, field.name, other.file.path, names_of(other.content.fields)));
}

/// Throws UsageError unless `entry`, a file, has the same fields as the first file, with equal types and shapes. If the
/// fields have a different order, sets FileContent::field_order of `entry`.
void match_fields(const Listing::Entry& first, Listing::Entry& entry, const Format& format) {
  require_fields_of(first, entry);
  require_fields_of(entry, first);
  auto& content = entry.content;
  for (const auto& field : content.fields) {
    content.field_order.push_back(number_of(first.content.fields, field.name));
    const auto& expected = first.content.fields[content.field_order.back()];
    if (const auto words = in_words({expected}), others = in_words({field}); words != others)
      throw UsageError(fmt::format("the files of a dataset must have the same fields, but '{}' has {}, and '{}' has {}{}",
                                   first.file.path, words, entry.file.path, others, advice_on(expected, field, format)));
  }
  if (std::ranges::is_sorted(content.field_order)) content.field_order.clear();
  if (first.content.vector_columns != content.vector_columns)
    throw UsageError(
        fmt::format("vector: the columns of '{}' are {}, but those of '{}' are {}; "
                    "all files must have them in the same order",
                    first.file.path, excerpt(join(first.content.vector_columns), 200), entry.file.path,
                    excerpt(join(content.vector_columns), 200)));
}

/// Throws UsageError if the samples of a file have no values, and their number is so large that a list of sample numbers
/// would exceed the key `max_expanded_bytes`.
void require_countable(const DataFile& file, const FileContent& content, const Options& options) {
  const auto is_empty = [](const Dataset::Field& field) { return !field.varies && sample_bytes(field) == 0; };
  if (!std::ranges::all_of(content.fields, is_empty)) return;
  constexpr std::uint64_t number_bytes = 8, max_samples = std::numeric_limits<std::uint64_t>::max() / number_bytes;
  ExpansionLimit(options, file.size)
      .require(number_bytes * std::min(content.samples, max_samples),
               fmt::format("'{}' declares {} samples without values, and the list of their numbers", file.path,
                           content.samples));
}

/// Adds the file to the listing and returns true. If the file cannot be used, throws an exception or, with on_error =
/// skip, logs a warning and returns false.
bool add_file(Listing& listing, DataFile file, const Options& options, const Format& format) try {
  auto content = format.probe(file, options);
  if (format.has_files) require_countable(file, content, options);
  note_heads(file);
  for (auto& source : content.sources) note_heads(source);
  Listing::Entry entry{std::move(file), std::move(content)};
  if (!listing.entries.empty()) match_fields(listing.entries.front(), entry, format);
  listing.entries.push_back(std::move(entry));
  return true;
} catch (const io::StorageError&) {
  throw;
} catch (const Error& error) {
  if (!skips_errors(options)) throw;
  log::run_warning(fmt::format("a file is skipped: {}", error.what()));
  return false;
}

/// Logs a warning about folder names that contain a column and its value, such as "year=2023" (written by Hive and Spark),
/// because these values are not read.
void warn_of_named_values(const std::string& section, const Listing& listing) {
  const auto values_of = [](const std::string& path) {
    std::map<std::string, std::string> values;
    for (const auto& part : std::filesystem::path(path).parent_path()) {
      const auto text = part.string();
      if (const auto at = text.find('='); at != text.npos && at > 0)
        values.emplace(text.substr(0, at), text.substr(at + 1));
    }
    return values;
  };
  const auto first = values_of(listing.entries.front().file.path);
  for (const auto& entry : listing.entries)
    for (const auto& [name, value] : values_of(entry.file.path))
      if (const auto found = first.find(name); found != first.end() && found->second != value)
        return warning_once(
            fmt::format("{}: '{}' in the names of the folders ({}={}, {}={}, ...) is not read as a column. "
                        "To use this column, write it into the files",
                        section, name, name, found->second, name, value));
}

}  // namespace

void scan_files(const std::string& section, Listing& listing, const Options& options, const Format& format) {
  listing.files_of_sources = files_of_sources(options, format);
  if (format.gather != nullptr) {
    const auto words = words_of_source(options.text("source"));
    listing.entries = format.gather(words, options);
    return;
  }
  auto files = files_of(options, format);
  const io::H5Examination examination;
  ProgressClock progress;
  std::size_t source = 0, of_source = 0;
  for (auto& file : files) {
    if (progress.is_due()) log::info(fmt::format("{}: read {} of {} files", section, &file - files.data(), files.size()));
    while (source < listing.files_of_sources.size() && of_source == listing.files_of_sources[source])
      ++source, of_source = 0;
    const bool is_added = add_file(listing, std::move(file), options, format);
    if (is_added)
      ++of_source;
    else if (source < listing.files_of_sources.size())
      --listing.files_of_sources[source];
  }
  if (listing.entries.empty())
    throw UsageError("no file of the dataset can be read; the warnings above have the reason for each file");
  warn_of_named_values(section, listing);
}

std::vector<MixedPart> mixed_parts_of(const Listing& listing, const Options& options) {
  std::vector<std::uint64_t> sizes;
  auto entry = listing.entries.begin();
  for (auto files : listing.files_of_sources) {
    sizes.push_back(0);
    for (; files > 0; --files) sizes.back() += (entry++)->content.samples;
  }
  return mixed_parts(sizes, weights_of(options.text("weights")));
}

}  // namespace trainrt::data
