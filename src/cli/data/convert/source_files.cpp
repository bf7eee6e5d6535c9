#include "cli/data/convert/source_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/data/in_order.hpp"
#include "core/text/text.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/section/dataset_options.hpp"
#include "data/section/dataset_section.hpp"
#include "io/files/digest.hpp"

namespace trainrt::cli::datasets {

namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t max_lines =
    1000;  // maximum number of lines per dataset; the record of an incomplete file contains all lines

/// Returns whether two paths name the same file. Returns false for missing files and objects.
bool is_same_file(const std::string& path, const std::string& other) {
  std::error_code ignored;
  return !other.empty() && fs::equivalent(path, other, ignored);
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

/// Returns whether the key source, or a key for companion files, names the file as a list of files (@FILE).
bool is_list_of_files(const std::string& path, const data::Listing& listing, const Options& keys) {
  std::vector<std::string_view> keys_of_files{"source"};
  const auto& companions = find_plugin(data::format_table(), listing.format, "data format").companions;
  keys_of_files.insert(keys_of_files.end(), companions.begin(), companions.end());
  return std::ranges::any_of(keys_of_files, [&](std::string_view key) {
    const auto text = keys.text(key);
    return !text.empty() && std::ranges::any_of(data::words_of_source(text), [&](const std::string& word) {
      return word.starts_with('@') && is_same_file(path, trim(std::string_view(word).substr(1)));
    });
  });
}

std::string absolute_path(const std::string& path) {
  return data::is_object(path) ? path : fs::absolute(path).lexically_normal().string();
}

std::string line_of(const data::DataFile& file) {
  return fmt::format("{}, {} bytes, changed at {}{}", absolute_path(file.path), file.size, file.mtime_ns,
                     file.version.empty() ? "" : ", version " + file.version);
}

/// Returns the line for a file whose name was listed, but which was not opened. The file may be missing if a run skips
/// its sample.
std::string line_of_path(const std::string& path) try { return line_of(data::data_file(path)); } catch (const UsageError&) {
  return absolute_path(path) + ", missing";
}

/// Appends the lines for a listed folder or archive with one file per sample: a line with a digest of the names and
/// labels, and a line for each file, or for each block of `max_lines` files.
void add_unit(const data::ListedFile& unit, const data::Format& format, int threads, Lines& lines) {
  const auto path = absolute_path(unit.file.path);
  const auto samples = unit.content.samples;
  lines.push_back(
      fmt::format("{}, {} files, names and labels with digest {}", path, samples, io::digest_of(unit.content.index)));
  const auto path_of = format.paths_of(unit.content);
  InOrder blocks(0, (samples + max_lines - 1) / max_lines);
  blocks.run(
      threads,
      [&](std::uint64_t block) {
        Lines of_block;
        const auto first = block * max_lines, end = std::min(first + max_lines, samples);
        for (auto sample = first; sample < end; ++sample) of_block.push_back(line_of_path(path_of(sample)));
        if (samples <= max_lines) return of_block;
        return Lines{
            fmt::format("{}, files {} to {}, digest {}", path, first, end - 1, io::digest_of(join(of_block, "\n")))};
      },
      [&](std::uint64_t, Lines of_block) { std::ranges::move(of_block, std::back_inserter(lines)); });
}

/// Appends the lines for the files of one dataset. If the files with samples need more than `max_lines` lines, one line
/// with a digest replaces them.
void add_dataset(const data::Listing& listing, const Options& keys, int threads, Lines& lines) {
  const auto& format = find_plugin(data::format_table(), listing.format, "data format");
  Lines found;
  for (const auto& entry : listing.entries) {
    if (entry.file.path.empty()) continue;
    if (format.paths_of != nullptr) {
      add_unit(entry, format, threads, found);
      continue;
    }
    found.push_back(line_of(entry.file));
    for (const auto& companion : entry.file.companions)
      if (!companion.path.empty()) found.push_back(line_of(companion));
    for (const auto& source : entry.content.sources) found.push_back(line_of(source));
  }
  if (found.size() > max_lines)
    found = {fmt::format("the files of {}, {} lines with digest {}", absolute_path(listing.entries.front().file.path),
                         found.size(), io::digest_of(join(found, "\n")))};
  std::ranges::move(found, std::back_inserter(lines));
  for (const auto& file : data::referenced_files(keys)) lines.push_back(line_of(file));
}

}  // namespace

void refuse_source(const std::string& path, const std::string& dataset, const data::Listing& listing, const Options& keys) {
  const auto section = data::section_of(dataset);
  if (holds(listing, path))
    throw UsageError(fmt::format("cannot write '{}', which is a source of {}: choose another name", path, section));
  if (is_list_of_files(path, listing, keys) || is_among(path, data::referenced_files(keys)))
    throw UsageError(fmt::format("cannot write '{}', which a key of {} names: choose another name", path, section));
}

std::vector<std::string> source_lines(const OpenedData& opened, int threads) {
  Lines lines;
  add_dataset(opened.listing, opened.keys, threads, lines);
  return lines;
}

}  // namespace trainrt::cli::datasets
