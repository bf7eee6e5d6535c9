#include "data/section/identity.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/process/memory.hpp"
#include "data/bytes/input_file.hpp"
#include "io/files/digest.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t most_named = 200;  // files; each is a line in every checkpoint
constexpr std::size_t head_bytes = 4096;
constexpr std::string_view computed = " by a permutation";  // what the texts of the first versions lack

std::string line_of(const DataFile& file) {
  return fmt::format("{} {} {}\n", file.size, file.head, std::filesystem::path(file.path).filename().string());
}

/// "SIZE DIGEST NAME"
std::string name_in(std::string_view line) {
  const auto second = line.find(' ', line.find(' ') + 1);
  return std::string(line.substr(std::min(second + 1, line.size())));
}

/// "700 of 1000 and 300 of 9000 samples"
std::string shares_in_words(const std::vector<MixedPart>& parts) {
  std::vector<std::string> words;
  for (const auto& part : parts) words.push_back(fmt::format("{} of {}", part.share, part.size));
  return fmt::format("{} samples", fmt::join(words, " and "));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string head_digest(const DataFile& file) {
  std::vector<std::byte> head(std::min<std::uint64_t>(file.size, head_bytes));
  InputFile(file).read(0, head);
  return io::digest_of(std::span<const std::byte>(head));
}

Identity identity_of(const Listing& listing, const DatasetImpl& dataset) {
  Identity identity;
  std::size_t files = 0;
  for (const auto& entry : listing.entries) {
    if (entry.file.path.empty()) continue;
    identity.files += line_of(entry.file);
    for (const auto& companion : entry.file.companions)
      if (!companion.path.empty()) identity.files += line_of(companion);
    for (const auto& source : entry.content.sources) identity.files += line_of(source);
    files += 1 + entry.content.sources.size();
  }
  if (files > most_named) identity.files = fmt::format("{} files, digest {}\n", files, io::digest_of(identity.files));
  identity.order = fmt::format("{} samples, {}", dataset.source->size(), dataset.shuffle ? "shuffled" : "in their order");
  const bool whole = dataset.shuffle && dataset.blocks.samples == 0 && dataset.mixed.empty();
  if (whole && dataset.source->size() >= Shuffle::most_listed) identity.order += computed;
  if (dataset.shuffle && dataset.blocks.samples > 0)
    identity.order += fmt::format(" in blocks of {}, {} a window", dataset.blocks.samples, dataset.blocks.window);
  if (!dataset.mixed.empty()) identity.order += fmt::format(" from {}", shares_in_words(dataset.mixed));
  if (dataset.shuffle && dataset.own_seed != 0) identity.order += fmt::format(" by shuffle_seed {}", dataset.own_seed);
  if (!listing.rows.empty()) identity.order += fmt::format(", of rows with digest {}", io::digest_of(listing.rows));
  if (!dataset.is_split) identity.order += ", all of them on each rank";
  return identity;
}

void go_on_as_first(DatasetImpl& dataset, std::string_view order) {
  auto as_first = dataset.order_text;
  const auto at = as_first.find(computed);
  if (at == std::string::npos) return;
  as_first.erase(at, computed.size());
  if (!order.empty() && order != as_first) return;
  require_memory(
      Shuffle::bytes_of_first_versions(dataset.source->size()),
      fmt::format("[data.{}]: the list of {} shuffled samples, as the run began", dataset.name, dataset.source->size()));
  dataset.order_text = std::move(as_first);
  dataset.shuffles_as_first = true;
}

std::optional<std::string> difference_of_files(std::string_view before, std::string_view now) {
  if (before == now) return std::nullopt;
  const auto old_lines = lines_of(before), new_lines = lines_of(now);
  for (std::size_t i = 0; i < std::min(old_lines.size(), new_lines.size()); ++i) {
    if (old_lines[i] == new_lines[i]) continue;
    const auto one = name_in(old_lines[i]), two = name_in(new_lines[i]);
    return one == two ? fmt::format("the file {} has other bytes or another size", one)
                      : fmt::format("{} is in the place of {}", two, one);
  }
  return new_lines.size() < old_lines.size() ? "the file " + name_in(old_lines[new_lines.size()]) + " is missing"
                                             : "the file " + name_in(new_lines[old_lines.size()]) + " is new";
}

}  // namespace trainrt::data
