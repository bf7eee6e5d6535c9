#include "data/section/open_dataset.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "data/bytes/file_reader.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/section/by_key.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/dataset_values.hpp"
#include "data/section/identity.hpp"
#include "data/section/listed_files.hpp"
#include "data/section/prepare.hpp"
#include "data/section/removed_keys.hpp"
#include "data/source/block_source.hpp"
#include "data/source/joined_source.hpp"
#include "data/source/on_error.hpp"
#include "data/source/row_ranges.hpp"
#include "data/source/selected_source.hpp"
#include "data/transform/augmentation.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

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
  if (!listing.files_of_sources.empty()) dataset.mixed = mixed_parts_of(listing, options);
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

/// Whoever waits for a store keeps no processor busy.
int threads_of(const Options& given, const Options& good, const Listing& listing) {
  constexpr std::int64_t for_objects = 4;
  const bool has_objects =
      std::ranges::any_of(listing.entries, [](const auto& entry) { return is_object(entry.file.path); });
  return static_cast<int>(has_objects && !given.has("threads") ? for_objects : good.integer("threads"));
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
  return std::make_shared<SelectedSource<RowRanges>>(std::move(source), RowRanges(listing.rows));
}

/// Keys that change values are tried on no samples, so that what is wrong with them is told before a run begins.
void require_keys_of_values(const Options& options, const Listing& listing) {
  const auto none =
      std::make_shared<JoinedSource>(listing.entries.front().content.fields, std::vector<std::uint64_t>{0}, nullptr, false);
  const auto fields = transformed(none, options)->fields();
  if (!needs_preparation(options, listing)) augmented(fields, options);
}

}  // namespace

void check_options(const std::string& name, const Options& options) {
  const auto section = section_of(name);
  refuse_removed_keys(section, options);
  if (const auto* given = options.find("format")) checked_options(section, options, format_named(section, *given));
}

Listing list_dataset(const std::string& name, const Options& options) {
  const auto section = section_of(name);
  return in_section(section, [&] {
    const auto& format = format_of(section, options);
    const auto good = checked_options(section, options, format);
    Listing listing{std::string(format.name), {}};
    list_files(section, listing, good, format);
    std::uint64_t samples = 0;
    for (const auto& entry : listing.entries) samples += entry.content.samples;
    if (samples == 0) {
      const auto& path = listing.entries.front().file.path;
      throw UsageError("its files hold no samples" + (path.empty() ? "" : fmt::format(": '{}'", path)));
    }
    listing.preprocessor = preprocessor_of_key(good.text("preprocess"));
    listing.rows = text_of_rows(good.text("rows"));
    require_rows(listing, samples);
    if (!listing.files_of_sources.empty()) mixed_parts_of(listing, good);
    require_materializable(good, listing);
    require_keys_of_values(good, listing);
    return listing;
  });
}

std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing) {
  const auto& format = find_plugin(format_table(), listing.format, "data format");
  return layout_in_memory(format, checked_options(section_of(name), options, format), listing);
}

std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing) {
  const auto& format = find_plugin(format_table(), listing.format, "data format");
  return std::make_shared<FileVerification>(listing, verify_of(checked_options(section_of(name), options, format)));
}

std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share,
                                          std::shared_ptr<FileVerification> verification) {
  const auto section = section_of(name);
  const auto& format = find_plugin(format_table(), listing.format, "data format");
  const auto good = checked_options(section, options, format);
  auto dataset = std::make_shared<DatasetImpl>();
  dataset->name = name;
  const auto files = in_section(section, [&] { return with_way(listing, good); });
  if (!verification) verification = std::make_shared<FileVerification>(listing, verify_of(good));
  const auto values =
      in_section(section, [&] { return open_values(name, shard.rank, format, good, files, share, verification); });
  dataset->source = selected(values.source, listing);
  dataset->is_split = good.boolean("split");
  dataset->shard = dataset->is_split ? shard : Shard{};
  set_order(section, good, listing, values.is_cached, *dataset);
  if (!values.are_transformed) dataset->source = in_section(section, [&] { return transformed(dataset->source, good); });
  if (!needs_preparation(good, listing))
    dataset->maps =
        in_section(section, [&] { return std::make_shared<const SampleMaps>(augmented(dataset->source->fields(), good)); });
  if (skips_errors(good)) dataset->skipping = std::make_unique<SkippingReader>(name);
  dataset->threads = threads_of(options, good, files);
  dataset->memory = values.left;
  const auto own_seed = static_cast<std::uint64_t>(good.integer("shuffle_seed"));
  dataset->seed = own_seed == 0 ? seed : mix_seed(seed, own_seed);
  dataset->own_seed = own_seed;
  auto identity = identity_of(listing, *dataset);
  dataset->files = std::move(identity.files);
  dataset->order_text = std::move(identity.order);
  return dataset;
}

void keep_first(DatasetImpl& dataset, std::uint64_t samples) {
  dataset.shuffle = false;
  dataset.mixed.clear();
  dataset.weight_sums = nullptr;
  if (samples >= dataset.source->size()) return;
  dataset.source = std::make_shared<SelectedSource<RowRanges>>(dataset.source, RowRanges(fmt::format("0:{}", samples)));
}

}  // namespace trainrt::data
