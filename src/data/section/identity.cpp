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

constexpr std::size_t max_named_files = 200;  // maximum number of files that a checkpoint lists one by one
constexpr std::size_t head_bytes = 4096;
constexpr std::string_view computed = " by a permutation";  // part of an order text; missing in those of the first versions

std::string line_of(const DataFile& file) {
  return fmt::format("{} {} {}\n", file.size, file.head, std::filesystem::path(file.path).filename().string());
}

/// Returns the name of the file in a line "SIZE DIGEST NAME" of an identity of files.
std::string name_in(std::string_view line) {
  const auto second = line.find(' ', line.find(' ') + 1);
  return std::string(line.substr(std::min(second + 1, line.size())));
}

/// Returns how many samples of each source an epoch uses: "700 of 1000 and 300 of 9000 samples".
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

std::string files_text_of(const Listing& listing) {
  std::string text;
  std::size_t files = 0;
  for (const auto& entry : listing.entries) {
    if (entry.file.path.empty()) continue;
    text += line_of(entry.file);
    for (const auto& companion : entry.file.companions)
      if (!companion.path.empty()) text += line_of(companion);
    for (const auto& source : entry.content.sources) text += line_of(source);
    files += 1 + entry.content.sources.size();
  }
  return files > max_named_files ? fmt::format("{} files, digest {}\n", files, io::digest_of(text)) : text;
}

std::string order_text_of(const Listing& listing, const DatasetPlan& plan) {
  const auto size = plan.source->size();
  const auto& order = plan.order;
  const auto& blocks = order.blocks;
  auto text = fmt::format("{} samples, {}", size, order.shuffle ? "shuffled" : "in their order");
  if (order.shuffle && blocks.samples == 0 && order.mixed.empty() && size >= Shuffle::min_computed) text += computed;
  if (order.shuffle && blocks.samples > 0)
    text += fmt::format(" in blocks of {}, {} a window", blocks.samples, blocks.window);
  if (!order.mixed.empty()) text += fmt::format(" from {}", shares_in_words(order.mixed));
  if (order.shuffle && order.own_seed != 0) text += fmt::format(" by shuffle_seed {}", order.own_seed);
  if (!listing.rows.empty()) text += fmt::format(", of rows with digest {}", io::digest_of(listing.rows));
  if (!plan.is_split) text += ", all of them on each rank";
  return text;
}

DatasetPlan with_legacy_shuffle(DatasetPlan plan, std::string_view order) {
  auto legacy = plan.order_text;
  const auto at = legacy.find(computed);
  if (at == std::string::npos) return plan;
  legacy.erase(at, computed.size());
  if (!order.empty() && order != legacy) return plan;
  const auto size = plan.source->size();
  require_memory(Shuffle::legacy_bytes(size), fmt::format("[data.{}]: the list of {} shuffled samples, "
                                                          "which a run of an older version needs",
                                                          plan.name, size));
  plan.order_text = std::move(legacy);
  plan.order.legacy_shuffle = true;
  return plan;
}

std::optional<std::string> difference_of_files(std::string_view before, std::string_view now) {
  if (before == now) return std::nullopt;
  const auto old_lines = lines_of(before), new_lines = lines_of(now);
  for (std::size_t i = 0; i < std::min(old_lines.size(), new_lines.size()); ++i) {
    if (old_lines[i] == new_lines[i]) continue;
    const auto one = name_in(old_lines[i]), two = name_in(new_lines[i]);
    return one == two ? fmt::format("the size or the first bytes of the file {} have changed", one)
                      : fmt::format("the file {} has replaced {}", two, one);
  }
  return new_lines.size() < old_lines.size() ? "the file " + name_in(old_lines[new_lines.size()]) + " is missing"
                                             : "the file " + name_in(new_lines[old_lines.size()]) + " is new";
}

}  // namespace trainrt::data
