#include "cli/data/inspect/reading_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/process/memory.hpp"
#include "core/text/byte_size.hpp"
#include "data/section/dataset_section.hpp"

namespace trainrt::cli::datasets {

namespace {

constexpr std::string_view convert_it =
    "convert it to one HDF5 file (trainrt data convert), whose samples are read directly";

/// Returns `bytes` as a value for the config key memory, such as "512 MiB". Rounds up to MiB or, from 4 GiB on, to GiB.
std::string memory_key(std::uint64_t bytes) {
  constexpr std::uint64_t mib = 1 << 20, gib = 1 << 30;
  if (bytes < 4 * gib) return fmt::format("{} MiB", (bytes + mib - 1) / mib);
  return fmt::format("{} GiB", (bytes + gib - 1) / gib);
}

std::uint64_t all_bytes(const ReadingFacts& facts) { return facts.samples * facts.sample_bytes; }

/// Returns advice about the cost of a sample in a shuffled order, or "".
std::string advice_for_unit(const ReadingFacts& facts) {
  if (facts.reading == data::Reading::as_a_whole)
    return fmt::format("each rank unpacks complete files into memory, and the key 'memory' does not limit this memory: {}",
                       convert_it);
  if (facts.reading == data::Reading::by_record)
    return fmt::format("in a shuffled order each sample is found and parsed separately, in each epoch: {}", convert_it);
  if (facts.together > 1 && facts.block == 0)
    return fmt::format(
        "in a shuffled order each sample requires a chunk of {0} samples, unless chunk_cache has room for all chunks: "
        "shuffle in blocks of a chunk (block = {0}), or {1}",
        facts.together, convert_it);
  constexpr std::uint64_t many_fields = 8;
  if (facts.fields > many_fields && facts.together == 1 && facts.block == 0)
    return fmt::format(
        "in a shuffled order each sample requires {} reads, one per field: shuffle in blocks (block = 1024), or convert "
        "the table with vector = x, which makes one field of its numbers",
        facts.fields);
  return {};
}

}  // namespace

ReadingFacts reading_facts(const OpenedData& opened, std::uint64_t ranks) {
  const auto& format = find_plugin(data::format_table(), opened.listing.format, "data format");
  const auto options = data::checked_options(data::section_of(opened.name), opened.keys, format);
  ReadingFacts facts;
  facts.samples = opened.size();
  facts.files = format.has_files ? opened.listing.entries.size() : 0;
  facts.has_files = format.has_files;
  facts.file_bytes = data::bytes_of_files(opened.listing);
  facts.ranks = ranks;
  facts.samples_per_rank = (facts.samples + ranks - 1) / ranks;
  facts.sample_bytes = about_sample_bytes(opened);
  facts.memory = options.bytes("memory");
  facts.available = available_memory();
  facts.is_kept = data::shared_layout(opened.name, opened.keys, opened.listing).has_value();
  for (const auto& entry : opened.listing.entries) {
    facts.reading = std::max(facts.reading, entry.content.reading);
    facts.together = std::max(facts.together, entry.content.together);
  }
  facts.fields = opened.fields().size();
  facts.block = static_cast<std::uint64_t>(options.integer("block"));
  return facts;
}

std::string unit_in_words(const ReadingFacts& facts) {
  if (!facts.has_files) return "generated, not read";
  if (facts.reading == data::Reading::as_a_whole) return "complete files are unpacked into memory";
  if (facts.reading == data::Reading::by_record) return "each record is parsed";
  if (facts.together > 1) return fmt::format("chunks of {} samples are read", facts.together);
  return "each sample is read directly";
}

std::vector<std::string> advice_for(const ReadingFacts& facts) {
  std::vector<std::string> advice;
  if (facts.samples < facts.ranks)
    advice.push_back(fmt::format("{} samples are fewer than {} ranks: some ranks get only repeated samples", facts.samples,
                                 facts.ranks));
  if (!facts.has_files || facts.is_kept) return advice;
  if (all_bytes(facts) < facts.available / 2)
    advice.push_back(fmt::format(
        "set memory = {} to keep all values, once for all ranks of a node, so that files are read only once ({} "
        "are available here)",
        memory_key(all_bytes(facts) + all_bytes(facts) / 8), byte_size(facts.available)));
  if (const auto text = advice_for_unit(facts); !text.empty()) advice.push_back(text);
  constexpr std::uint64_t many = 1000, small = 1 << 20;
  if (facts.files > many && facts.file_bytes / facts.files < small)
    advice.push_back(fmt::format("opening {} files of {} on average takes longer than reading them: {}", facts.files,
                                 byte_size(facts.file_bytes / facts.files), convert_it));
  return advice;
}

}  // namespace trainrt::cli::datasets
