#include "data/section/open_dataset.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "core/output/log.hpp"
#include "core/process/cpus.hpp"
#include "core/process/memory.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/bytes/read_method.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/dataset_values.hpp"
#include "data/section/identity.hpp"
#include "data/section/prepare.hpp"
#include "data/section/scan_files.hpp"
#include "data/source/block_source.hpp"
#include "data/source/row_ranges.hpp"
#include "data/source/selected_source.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// Replaces the plan's source by a source that reads complete blocks, unless all values are in memory. Called if samples
/// are shuffled in blocks.
void use_blocks(const std::string& section, DatasetPlan& plan) {
  constexpr std::uint64_t few_blocks = 64;
  constexpr std::size_t windows_held = 2;  // the window that is in use, and the next window, which is being read
  const auto [samples, window] = plan.order.blocks;
  const auto size = plan.source->size();
  if (plan.source->is_resident()) return;
  std::uint64_t bytes = 0;
  for (const auto& field : plan.source->fields())
    if (!field.varies) bytes += sample_bytes(field);
  require_memory(bytes * std::min(windows_held * samples * window, size),
                 fmt::format("{}: two windows of {} blocks of {} samples each", section, window, samples));
  if (std::min(window, size / samples) < few_blocks)
    log::run_warning(
        fmt::format("{}: fewer than {} blocks are shuffled together. "
                    "If the files are sorted, for example by class, the samples of a batch are therefore too similar; "
                    "set a smaller block{}",
                    section, few_blocks, window < few_blocks ? " or a larger window" : ""));
  plan.source = std::make_shared<BlockSource>(plan.source, samples, windows_held * window);
}

void set_order(const std::string& section, const Options& options, const Listing& listing, std::uint64_t run_seed,
               bool is_cached, DatasetPlan& plan) {
  auto& order = plan.order;
  order.own_seed = static_cast<std::uint64_t>(options.integer("shuffle_seed"));
  order.seed = order.own_seed == 0 ? run_seed : mix_seed(run_seed, order.own_seed);
  order.shuffle = options.boolean("shuffle");
  order.blocks = {static_cast<std::uint64_t>(options.integer("block")),
                  static_cast<std::uint64_t>(options.integer("window"))};
  if (order.shuffle && order.blocks.samples > 0 && !is_cached) use_blocks(section, plan);
  if (!listing.files_of_sources.empty()) order.mixed = mixed_parts_of(listing, options);
}

void set_read_method(DataFile& file, const ReadMethod& method) {
  file.read_method = &method;
  for (auto& companion : file.companions) set_read_method(companion, method);
}

Listing with_read_method(Listing listing, const Options& options) {
  const auto& method = find_plugin(read_method_table(), options.text("read_method"), "read method");
  method.require();
  for (auto& entry : listing.entries) set_read_method(entry.file, method);
  return listing;
}

/// Returns the number of threads that read ahead. `given` are the keys in the config, `good` those with defaults. The
/// default is higher for an object store, because threads that wait for the store use no CPU time. Ranks that share CPUs
/// have fewer threads.
int threads_of(const Options& given, const Options& good, const Listing& listing) {
  constexpr std::int64_t for_objects = 4;
  const bool has_objects =
      std::ranges::any_of(listing.entries, [](const auto& entry) { return is_object(entry.file.path); });
  const auto threads = static_cast<int>(has_objects && !given.has("threads") ? for_objects : good.integer("threads"));
  return threads == 0 ? 0 : threads_of_this_rank(threads);
}

std::shared_ptr<const Source> selected(std::shared_ptr<const Source> source, const Listing& listing) {
  if (listing.rows.empty()) return source;
  return std::make_shared<SelectedSource<RowRanges>>(std::move(source), RowRanges(listing.rows));
}

}  // namespace

std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing) {
  return layout_in_memory(checked_options(section_of(name), options, listing), listing);
}

std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing) {
  return std::make_shared<FileVerification>(listing, verify_of(checked_options(section_of(name), options, listing)));
}

std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share,
                                          std::shared_ptr<FileVerification> verification) {
  const auto section = section_of(name);
  const auto good = checked_options(section, options, listing);
  DatasetPlan plan;
  plan.name = name;
  const auto files = in_section(section, [&] { return with_read_method(listing, good); });
  if (!verification) verification = std::make_shared<FileVerification>(listing, verify_of(good));
  const auto values = in_section(section, [&] { return open_values(name, shard.rank, good, files, share, verification); });
  plan.source = selected(values.source, listing);
  plan.is_split = good.boolean("split");
  plan.shard = plan.is_split ? shard : Shard{};
  set_order(section, good, listing, seed, values.is_cached, plan);
  in_section(section, [&] {
    if (!values.are_transformed) plan.source = transformed(plan.source, good);
    if (!needs_preparation(good, listing))
      plan.maps = std::make_shared<const FieldMaps>(plan.source->fields(), augmentation_table(), good);
  });
  if (skips_errors(good)) plan.skipping = std::make_shared<SkippingReader>(name);
  plan.threads = threads_of(options, good, files);
  plan.memory = values.left;
  plan.files_text = files_text_of(listing);
  plan.order_text = order_text_of(listing, plan);
  return std::make_shared<DatasetImpl>(std::move(plan));
}

DatasetPlan first_samples(DatasetPlan plan, std::uint64_t samples) {
  plan.order = {.seed = plan.order.seed, .own_seed = plan.order.own_seed};
  if (samples < plan.source->size())
    plan.source = std::make_shared<SelectedSource<RowRanges>>(plan.source, RowRanges(fmt::format("0:{}", samples)));
  return plan;
}

}  // namespace trainrt::data
