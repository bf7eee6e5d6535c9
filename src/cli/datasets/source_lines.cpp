#include "cli/datasets/source_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/datasets/in_order.hpp"
#include "core/text/text.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/section/referenced_files.hpp"
#include "io/files/digest.hpp"

namespace trainrt::cli::datasets {

namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t most_lines = 1000;  // of a dataset; each stands in the note beside the file

std::string whole_path(const std::string& path) {
  return data::is_object(path) ? path : std::filesystem::absolute(path).lexically_normal().string();
}

std::string line_of(const data::DataFile& file) {
  return fmt::format("{}, {} bytes, changed at {}{}", whole_path(file.path), file.size, file.mtime_ns,
                     file.version.empty() ? "" : ", version " + file.version);
}

/// Of a file that was listed by its name alone.
std::string line_of_path(const std::string& path) try { return line_of(data::data_file(path)); } catch (const UsageError&) {
  return whole_path(path) + ", which is not there";  // its sample may be one that is skipped
}

/// A unit whose samples are a file each: what its names and labels are, and each file as it is now.
void add_unit(const data::ListedFile& unit, const data::Format& format, int threads, Lines& lines) {
  lines.push_back(fmt::format("{}, {} files, names and labels with digest {}", whole_path(unit.file.path),
                              unit.content.samples, io::digest_of(unit.content.index)));
  const auto path_of = format.paths_of(unit.content);
  const auto samples = unit.content.samples;
  InOrder blocks(0, (samples + most_lines - 1) / most_lines);
  blocks.run(
      threads,
      [&](std::uint64_t block) {
        Lines made;
        const auto first = block * most_lines, end = std::min(first + most_lines, samples);
        for (auto sample = first; sample < end; ++sample) made.push_back(line_of_path(path_of(sample)));
        if (samples <= most_lines) return made;
        return Lines{fmt::format("{}, files {} to {}, digest {}", whole_path(unit.file.path), first, end - 1,
                                 io::digest_of(join(made, "\n")))};
      },
      [&](std::uint64_t, Lines made) { std::ranges::move(made, std::back_inserter(lines)); });
}

Lines lines_of(const data::Listing& listing, int threads) {
  const auto& format = find_plugin(data::format_table(), listing.format, "data format");
  Lines lines;
  for (const auto& entry : listing.entries) {
    if (entry.file.path.empty()) continue;
    if (format.paths_of != nullptr) {
      add_unit(entry, format, threads, lines);
      continue;
    }
    lines.push_back(line_of(entry.file));
    for (const auto& companion : entry.file.companions)
      if (!companion.path.empty()) lines.push_back(line_of(companion));
    for (const auto& source : entry.content.sources) lines.push_back(line_of(source));
  }
  return lines;
}

/// The lines of one dataset.
void add_dataset(const data::Listing& listing, const Options& keys, int threads, Lines& lines) {
  auto found = lines_of(listing, threads);
  if (found.size() > most_lines)
    found = {fmt::format("the files of {}, {} lines with digest {}", whole_path(listing.entries.front().file.path),
                         found.size(), io::digest_of(join(found, "\n")))};
  std::ranges::move(found, std::back_inserter(lines));
  for (const auto& file : data::referenced_files(keys)) lines.push_back(line_of(file));
}

}  // namespace

std::vector<std::string> source_lines(const OpenedData& opened, int threads) {
  Lines lines;
  add_dataset(opened.listing, opened.keys, threads, lines);
  return lines;
}

}  // namespace trainrt::cli::datasets
