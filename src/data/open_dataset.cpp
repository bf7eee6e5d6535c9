#include "data/open_dataset.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "core/log.hpp"
#include "core/memory.hpp"
#include "data/augmentation.hpp"
#include "data/block_source.hpp"
#include "data/dataset_options.hpp"
#include "data/dataset_values.hpp"
#include "data/file_reader.hpp"
#include "data/identity.hpp"
#include "data/on_error.hpp"
#include "data/row_ranges.hpp"
#include "data/selected_source.hpp"
#include "data/transform.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

std::string section_of(const std::string& name) { return "[data." + name + "]"; }

const Format* format_of_name(std::string_view path) {
  for (const auto* format : format_table())
    if (format->is_name_of != nullptr && format->is_name_of(path)) return format;
  return nullptr;
}

const Format& format_named(const std::string& section, const OptionValue& given) try {
  return find_plugin(format_table(), given.text, "data format");
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{}: format in {}: {}", given.origin, section, error.what()));
}

/// Told by the key, by the name of the source, or by that of its first file.
const Format& format_of(const std::string& section, const Options& options) {
  if (const auto* given = options.find("format")) return format_named(section, *given);
  const auto source = options.text("source");
  if (const auto* format = format_of_name(source)) return *format;
  const auto first = source.empty() ? source : list_data_files(source).front().path;
  if (const auto* format = format_of_name(first)) return *format;
  throw UsageError(fmt::format("the key format in {} is missing{}; there are: {}", section,
                               first.empty() ? "" : fmt::format(", and the name of the file '{}' does not tell it", first),
                               join(names_of(format_table()))));
}

/// What is said of files, with the section in front.
template <class Call>
auto in_section(const std::string& section, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(section + ": " + error.what());
} catch (const Error& error) {
  throw Error(section + ": " + error.what(), error.code());
}

/// What cannot be had together with weights.
void require_mixable(const Options& options) {
  if (options.text("weights").empty()) return;
  if (!options.boolean("shuffle"))
    throw UsageError("weights mixes the sources in a shuffled order: it needs shuffle = true");
  if (options.integer("block") > 0) throw UsageError("weights and block exclude each other");
  if (!options.text("rows").empty()) throw UsageError("weights and rows exclude each other");
}

Options checked_options(const std::string& section, const Options& options, const Format& format) {
  auto specs = common_options();
  specs.insert(specs.end(), format.options.begin(), format.options.end());
  auto good = checked(options, specs, section);
  in_section(section, [&] { require_mixable(good); });
  if (format.has_files && good.text("source").empty())
    throw UsageError(
        fmt::format("the key source in {} is missing: it names the files of the format {}", section, format.name));
  if (!format.has_files && !good.text("source").empty())
    throw UsageError(
        fmt::format("{}: source in {}: the format {} has no files", options.find("source")->origin, section, format.name));
  return good;
}

void add_companions(std::vector<DataFile>& files, const Options& options, const Format& format) {
  for (const auto key : format.companions) {
    std::vector<DataFile> found;
    if (const auto source = options.text(key); !source.empty()) found = list_data_files(source);
    if (!found.empty() && found.size() != files.size())
      throw UsageError(
          fmt::format("source names {} files and {} names {}: there must be as many", files.size(), key, found.size()));
    for (std::size_t i = 0; i < files.size(); ++i) files[i].companions.push_back(found.empty() ? DataFile{} : found[i]);
  }
}

void note_heads(DataFile& file) {
  if (!file.path.empty()) file.head = head_digest(file);
  for (auto& companion : file.companions) note_heads(companion);
}

/// How many of the dataset's files each source has, if they are mixed.
std::vector<std::size_t> files_of_sources(const Options& options) {
  std::vector<std::size_t> counts;
  if (options.text("weights").empty()) return counts;
  for (const auto& word : words_of_source(options.text("source"))) counts.push_back(list_data_files(word).size());
  return counts;
}

std::vector<MixedPart> parts_of(const Listing& listing, const Options& options) {
  std::vector<std::uint64_t> sizes;
  auto entry = listing.entries.begin();
  for (auto files : listing.files_of_sources) {
    sizes.push_back(0);
    for (; files > 0; --files) sizes.back() += (entry++)->content.samples;
  }
  return mixed_parts(sizes, weights_of(options.text("weights")));
}

std::vector<DataFile> files_of(const Options& options, const Format& format) {
  if (!format.has_files) return {DataFile{}};
  auto files = list_data_files(options.text("source"));
  add_companions(files, options, format);
  return files;
}

void require_same_fields(const Listing::Entry& first, const Listing::Entry& other) {
  const auto one = in_words(first.content.fields), two = in_words(other.content.fields);
  if (one != two)
    throw UsageError(fmt::format("the files of a dataset have the same fields: '{}' has {}, and '{}' has {}",
                                 first.file.path, one, other.file.path, two));
}

/// Whether the file is one of the dataset. If it cannot be: an error, or, as the key on_error says, a warning.
bool add_file(Listing& listing, DataFile file, const Options& options, const Format& format) try {
  auto content = format.look(file, options);
  note_heads(file);
  Listing::Entry entry{std::move(file), std::move(content)};
  if (!listing.entries.empty()) require_same_fields(listing.entries.front(), entry);
  listing.entries.push_back(std::move(entry));
  return true;
} catch (const io::StorageError&) {
  throw;
} catch (const Error& error) {
  if (!skips_errors(options)) throw;
  log::run_warning(fmt::format("a file is skipped: {}", error.what()));
  return false;
}

void list_files(Listing& listing, const Options& options, const Format& format) {
  listing.files_of_sources = files_of_sources(options);
  std::size_t source = 0, of_source = 0;
  for (auto& file : files_of(options, format)) {
    while (source < listing.files_of_sources.size() && of_source == listing.files_of_sources[source])
      ++source, of_source = 0;
    const bool is_added = add_file(listing, std::move(file), options, format);
    if (is_added)
      ++of_source;
    else if (source < listing.files_of_sources.size())
      --listing.files_of_sources[source];
  }
  if (listing.entries.empty()) throw UsageError("none of its files can be read");
}

/// What a window of each field takes, as far as its samples have one length.
std::uint64_t bytes_of_window(const DatasetImpl& dataset) {
  std::uint64_t bytes = 0;
  for (const auto& field : dataset.source->fields())
    if (!field.varies) bytes += sample_bytes(field);
  return bytes * std::min(dataset.blocks.samples * dataset.blocks.window, dataset.source->size());
}

constexpr std::uint64_t few_blocks = 64;

void use_blocks(const std::string& section, DatasetImpl& dataset) {
  const auto [samples, window] = dataset.blocks;
  if (dataset.source->is_resident()) return;
  require_memory(bytes_of_window(dataset),
                 fmt::format("{}: a window of {} blocks of {} samples", section, window, samples));
  if (std::min(window, dataset.source->size() / samples) < few_blocks)
    log::run_warning(
        fmt::format("{}: fewer than {} blocks are shuffled among each other: if the files are sorted, batches are "
                    "not alike; make block smaller{}",
                    section, few_blocks, window < few_blocks ? ", or window larger" : ""));
  constexpr std::size_t ahead = 2;  // while one window is used, the next is begun
  dataset.source = std::make_shared<BlockSource>(dataset.source, samples, ahead * window);
}

void set_order(const std::string& section, const Options& options, const Listing& listing, bool is_cached,
               DatasetImpl& dataset) {
  dataset.shuffle = options.boolean("shuffle");
  dataset.blocks = {static_cast<std::uint64_t>(options.integer("block")),
                    static_cast<std::uint64_t>(options.integer("window"))};
  if (dataset.shuffle && dataset.blocks.samples > 0 && !is_cached) use_blocks(section, dataset);
  if (!listing.files_of_sources.empty()) dataset.mixed = parts_of(listing, options);
}

void set_way(DataFile& file, const ReadWay& way) {
  file.way = &way;
  for (auto& companion : file.companions) set_way(companion, way);
}

Listing with_way(Listing listing, const Options& options) {
  const auto& way = find_plugin(read_way_table(), options.text("read"), "way of reading");
  way.require();
  for (auto& entry : listing.entries) set_way(entry.file, way);
  return listing;
}

/// An empty text chooses all.
void require_rows(const Listing& listing, std::uint64_t samples) {
  if (listing.rows.empty()) return;
  const RowRanges rows(listing.rows);
  if (rows.size() == 0) throw UsageError("rows chooses no samples");
  if (rows.largest() >= samples)
    throw UsageError(fmt::format("rows chooses sample {}, and there are {}, numbered from 0", rows.largest(), samples));
}

std::shared_ptr<const Source> selected(std::shared_ptr<const Source> source, const Listing& listing) {
  if (listing.rows.empty()) return source;
  return std::make_shared<SelectedSource>(std::move(source), RowRanges(listing.rows));
}

}  // namespace

void check_options(const std::string& name, const Options& options) {
  const auto section = section_of(name);
  if (const auto* given = options.find("format")) checked_options(section, options, format_named(section, *given));
}

Listing list_dataset(const std::string& name, const Options& options) {
  const auto section = section_of(name);
  return in_section(section, [&] {
    const auto& format = format_of(section, options);
    const auto good = checked_options(section, options, format);
    Listing listing{std::string(format.name), {}};
    list_files(listing, good, format);
    std::uint64_t samples = 0;
    for (const auto& entry : listing.entries) samples += entry.content.samples;
    if (samples == 0) throw UsageError("its files hold no samples");
    listing.rows = text_of_rows(good.text("rows"));
    require_rows(listing, samples);
    if (!listing.files_of_sources.empty()) parts_of(listing, good);
    require_materializable(good, listing);
    return listing;
  });
}

std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing) {
  const auto& format = find_plugin(format_table(), listing.format, "data format");
  return layout_in_memory(format, checked_options(section_of(name), options, format), listing);
}

std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share) {
  const auto section = section_of(name);
  const auto& format = find_plugin(format_table(), listing.format, "data format");
  const auto good = checked_options(section, options, format);
  auto dataset = std::make_shared<DatasetImpl>();
  dataset->name = name;
  const auto files = in_section(section, [&] { return with_way(listing, good); });
  const auto values = in_section(section, [&] { return open_values(name, shard.rank, format, good, files, share); });
  dataset->source = selected(values.source, listing);
  dataset->is_split = good.boolean("split");
  dataset->shard = dataset->is_split ? shard : Shard{};
  set_order(section, good, listing, values.is_cached, *dataset);
  if (!values.are_transformed) dataset->source = in_section(section, [&] { return transformed(dataset->source, good); });
  dataset->maps =
      in_section(section, [&] { return std::make_shared<const SampleMaps>(augmented(dataset->source->fields(), good)); });
  if (skips_errors(good)) dataset->skipping = std::make_unique<SkippingReader>(name);
  dataset->threads = static_cast<int>(good.integer("threads"));
  dataset->memory = values.left;
  const auto own_seed = static_cast<std::uint64_t>(good.integer("shuffle_seed"));
  dataset->seed = own_seed == 0 ? seed : mix_seed(seed, own_seed);
  dataset->own_seed = own_seed;
  auto identity = identity_of(listing, *dataset);
  dataset->files = std::move(identity.files);
  dataset->order_text = std::move(identity.order);
  return dataset;
}

}  // namespace trainrt::data
