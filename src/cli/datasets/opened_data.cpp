#include "cli/datasets/opened_data.hpp"

#include <sched.h>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cli/datasets/whole_datasets.hpp"
#include "core/text/text.hpp"
#include "data/section/prepare.hpp"
#include "data/source/skipping_reader.hpp"

namespace trainrt::cli::datasets {

namespace {

/// Without what says how a run reads it.
Options for_one_pass(const Options& given) {
  Options keys;
  for (const auto& key : given.keys())
    if (key != "weights") keys.set(key, *given.find(key));
  const auto set = [&](const char* key, const char* value) { keys.set(key, {value, std::string(command_line)}); };
  // Else files are read whole, by one thread, before the first sample. What a query gives is kept whatever its size, and
  // memory is what it may take.
  if (trim(keys.text("query")).empty()) set("memory", "0 B");
  set("materialize", "false");
  set("shuffle", "false");
  return keys;
}

}  // namespace

OpenedData open_data(const SourceChoice& choice) {
  const auto keys = for_one_pass(choice.keys);
  auto sections = choice.others;
  sections.insert_or_assign(choice.name, keys);
  WholeDatasets all(std::move(sections), choice.seed);
  OpenedData opened{choice.name, choice.keys, choice.seed, all.listing(choice.name), nullptr, choice.others};
  opened.dataset = data::needs_preparation(keys, opened.listing)
                       ? all.open(choice.name)
                       : data::open_dataset(choice.name, keys, opened.listing, Shard{}, choice.seed);
  return opened;
}

std::uint64_t about_sample_bytes(const OpenedData& opened) {
  std::uint64_t bytes = 0;
  bool varies = false;
  for (const auto& field : opened.fields()) {
    varies = varies || field.varies;
    bytes += field.varies ? sizeof(std::uint64_t) : data::sample_bytes(field);
  }
  if (varies) bytes += data::bytes_of_files(opened.listing) / std::max<std::uint64_t>(data::samples_of(opened.listing), 1);
  return std::max<std::uint64_t>(bytes, 1);
}

std::uint64_t samples_at_once(const OpenedData& opened) {
  constexpr std::uint64_t usual_bytes = 2 << 20, most_bytes = 64 << 20, most = 1 << 16;
  const auto bytes = about_sample_bytes(opened);
  const auto usual = std::clamp<std::uint64_t>(usual_bytes / bytes, 1, most);
  std::uint64_t together = 1;
  for (const auto& entry : opened.listing.entries)
    if (entry.content.reading == data::Reading::by_field) together = std::max(together, entry.content.together);
  if (together == 1 || together > most_bytes / bytes) return usual;
  return (usual + together - 1) / together * together;
}

std::vector<data::Column> read_samples(const data::Source& source, std::span<const std::size_t> fields, std::uint64_t first,
                                       std::uint64_t count) {
  std::vector<std::uint64_t> samples(count);
  std::iota(samples.begin(), samples.end(), first);
  std::vector<data::Column> columns;
  for (const auto field : fields) columns.push_back({field, {}, {}});
  source.read(samples, columns);
  return columns;
}

std::vector<std::size_t> all_fields(const OpenedData& opened) {
  std::vector<std::size_t> fields(opened.fields().size());
  std::iota(fields.begin(), fields.end(), std::size_t{0});
  return fields;
}

ReadSamples read_good_samples(const OpenedData& opened, std::uint64_t first, std::uint64_t count) {
  ReadSamples read{std::vector<std::uint64_t>(count), {}};
  std::iota(read.numbers.begin(), read.numbers.end(), first);
  for (const auto field : all_fields(opened)) read.columns.push_back({field, {}, {}});
  if (const auto& skipping = opened.dataset->plan().skipping)
    skipping->read_if_any(opened.source(), read.numbers, read.columns);
  else
    opened.source().read(read.numbers, read.columns);
  return read;
}

std::span<const std::byte> sample_of(const Dataset::Field& field, const data::Column& column, std::uint64_t sample) {
  const std::span<const std::byte> values = column.values;
  if (!field.varies) return values.subspan(sample * data::sample_bytes(field), data::sample_bytes(field));
  const auto first = sample == 0 ? 0 : column.ends[sample - 1];
  return values.subspan(first, column.ends[sample] - first);
}

int default_threads() {
  constexpr int most = 64;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, most);
}

}  // namespace trainrt::cli::datasets
