#include "cli/data/opened_data.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/process/cpus.hpp"
#include "core/text/text.hpp"
#include "data/section/prepare.hpp"
#include "data/source/skipping_reader.hpp"

namespace trainrt::cli::datasets {

namespace {

/// Returns the keys for reading a dataset once, in the order of its files. The keys for shuffling, weights and memory
/// are removed.
Options keys_for_one_pass(const Options& given) {
  Options keys;
  for (const auto& key : given.keys())
    if (key != "weights") keys.set(key, *given.find(key));
  const auto set = [&](const char* key, const char* value) { keys.set(key, {value, std::string(command_line)}); };
  // If the key memory is set, one thread reads complete files before the first sample. The key is therefore set to 0,
  // unless the key query is set: the result of a query is always kept in memory.
  if (trim(keys.text("query")).empty()) set("memory", "0 B");
  set("materialize", "false");
  set("shuffle", "false");
  return keys;
}

}  // namespace

LocalDatasets::LocalDatasets(std::map<std::string, Options> sections, std::uint64_t seed)
    : sections_(std::move(sections)), seed_(seed) {}

const data::Listing& LocalDatasets::listing(const std::string& name) {
  if (listings_.contains(name)) return listings_.at(name);
  std::map<std::string, Options> wanted{*sections_.find(name)};
  data::add_train_of_classes(wanted, sections_);
  auto found = data::list_datasets(wanted);
  data::require_steps(wanted, found);
  listings_.merge(found);
  return listings_.at(name);
}

std::shared_ptr<DatasetImpl> LocalDatasets::open(const std::string& name) {
  const auto& listed = listing(name);
  const auto& options = sections_.at(name);
  auto dataset = data::open_dataset(name, options, listed, Shard{}, seed_);
  data::prepare(*dataset, options, listed);
  return dataset;
}

std::string in_words(const DatasetImpl& dataset) {
  return fmt::format("{} samples: {}", dataset.source()->size(), data::in_words(dataset.plan().fields()));
}

OpenedData open_data(const SourceChoice& choice) {
  const auto keys = keys_for_one_pass(choice.keys);
  auto sections = choice.others;
  sections.insert_or_assign(choice.name, keys);
  LocalDatasets all(std::move(sections), choice.seed);
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
  constexpr std::uint64_t default_bytes = 2 << 20, max_bytes = 64 << 20, max_samples = 1 << 16;
  const auto bytes = about_sample_bytes(opened);
  const auto samples = std::clamp<std::uint64_t>(default_bytes / bytes, 1, max_samples);
  std::uint64_t together = 1;
  for (const auto& entry : opened.listing.entries)
    if (entry.content.reading == data::Reading::by_field) together = std::max(together, entry.content.together);
  if (together == 1 || together > max_bytes / bytes) return samples;
  return (samples + together - 1) / together * together;
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

int threads_option(const Arguments& arguments) {
  constexpr int max_default = 64, max_threads = 256;
  const int cpus = std::min(cpus_of_this_thread(), max_default);
  return static_cast<int>(std::min<std::int64_t>(number_option(arguments, "threads", cpus), max_threads));
}

}  // namespace trainrt::cli::datasets
