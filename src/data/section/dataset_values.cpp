#include "data/section/dataset_values.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "data/node_memory/node_cache.hpp"
#include "data/source/concatenated_source.hpp"
#include "data/source/field_cache.hpp"
#include "data/source/reordered_source.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// Returns one source with the samples of all files. Each file is opened when it is first read.
std::shared_ptr<const ConcatenatedSource> joined(const Options& options, const Listing& listing, bool keep,
                                                 std::shared_ptr<FileVerification> verification) {
  std::vector<std::uint64_t> sizes;
  for (const auto& entry : listing.entries) sizes.push_back(entry.content.samples);
  const auto open = [&format = format_of(listing), options, listing, keep,
                     verification](std::size_t part) -> std::shared_ptr<const Source> {
    const auto& [file, content] = listing.entries[part];
    std::shared_ptr<const Source> source = format.open(verification->verified(part, file, keep), content, options, keep);
    if (content.field_order.empty()) return source;
    return std::make_shared<ReorderedSource>(std::move(source), listing.entries.front().content.fields,
                                             content.field_order);
  };
  return std::make_shared<ConcatenatedSource>(listing.entries.front().content.fields, sizes, open, keep);
}

/// Two sources: the samples of the files, and the values to keep in memory. Both read the files without the format's
/// cache of decoded data, because each value is read only once.
struct UncachedSources {
  std::shared_ptr<const ConcatenatedSource> files;
  std::shared_ptr<const Source> values;  ///< `files`, transformed if `materialize` is set
};

UncachedSources open_uncached(Options options, const Listing& listing,
                              const std::shared_ptr<FileVerification>& verification) {
  if (const auto& format = format_of(listing); !format.read_cache.empty())
    options.set(std::string(format.read_cache), {"0 B", options.find(format.read_cache)->origin});
  UncachedSources made{joined(options, listing, false, verification), nullptr};
  made.values = options.boolean("materialize") ? transformed(made.files, options) : made.files;
  return made;
}

/// Returns the fields of the values to keep in memory: the fields after the transforms if `materialize` is set,
/// otherwise the fields of the files.
std::vector<Dataset::Field> kept_fields(const Options& options, const Listing& listing) {
  return options.boolean("materialize") ? transformed_fields(options, listing) : listing.entries.front().content.fields;
}

std::uint64_t bytes_of_sample(const std::vector<Dataset::Field>& fields) {
  std::uint64_t bytes = 0;
  for (const auto& field : fields) bytes += UnitLayout::bytes_of_sample(field);
  return bytes;
}

/// Returns an upper limit of the size in bytes of all values in fields that vary in length. The texts have at most as many
/// bytes as the files. The arrays have at most one value per two bytes of the files (a digit and a comma).
std::uint64_t max_varying_bytes(const std::vector<Dataset::Field>& fields, const Listing& listing) {
  std::uint64_t bytes = 0;
  for (const auto& field : fields)
    if (field.varies) bytes = std::max(bytes, bytes_of_files(listing) * std::max<std::size_t>(1, size_of(field.dtype) / 2));
  return bytes;
}

/// Returns memory for values that only this rank keeps.
NodeShare private_share(const UnitLayout& layout) {
  const auto bytes = NodeCache::memory_bytes(layout);
  require_memory(bytes, "values that materialize = true keeps");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  NodeShare share;
  share.memory = {static_cast<std::byte*>(memory), [bytes](std::byte* p) { munmap(p, bytes); }};
  UnitStates::make(share.memory.get(), layout);
  return share;
}

/// Returns how many bytes of batches may be read ahead, if `kept` of `memory` bytes are used to keep values. The result is
/// at most a quarter of `kept`, because no batches are read ahead once all values are in memory.
std::uint64_t bytes_ahead(std::uint64_t kept, std::uint64_t memory) {
  constexpr std::uint64_t part = 4;
  return std::min(memory - std::min(memory, kept), kept / part);
}

/// Implements open_values() for a rank that does not share memory with the other ranks of its node.
DatasetValues open_for_one_rank(const Options& options, const Listing& listing, std::uint64_t memory,
                                const std::shared_ptr<FileVerification>& verification) {
  const bool keep = !skips_errors(options) && bytes_of_files(listing) <= memory;
  const auto& [file, content] = listing.entries.front();
  std::shared_ptr<const Source> source;
  if (listing.entries.size() > 1)
    source = joined(options, listing, keep, verification);
  else
    source = format_of(listing).open(verification->verified(0, file, keep), content, options, keep);
  if (keep || skips_errors(options) || content.reading != Reading::by_field) return {source, false, false, memory};
  constexpr std::uint64_t part_of_fields = 8;
  const auto small = std::make_shared<const FieldCache>(source, memory / part_of_fields);
  return {small, false, false, memory - small->bytes()};
}

}  // namespace

std::vector<Dataset::Field> transformed_fields(const Options& options, const Listing& listing) {
  const auto no_samples = std::make_shared<ConcatenatedSource>(listing.entries.front().content.fields,
                                                               std::vector<std::uint64_t>{0}, nullptr, false);
  return transformed(no_samples, options)->fields();
}

std::optional<UnitLayout> layout_in_memory(const Options& options, const Listing& listing) {
  if (skips_errors(options) || (!format_of(listing).has_files && !options.boolean("materialize"))) return std::nullopt;
  const auto fields = kept_fields(options, listing);
  const auto bytes = bytes_of_sample(fields), memory = options.bytes("memory"), samples = samples_of(listing);
  if (bytes == 0 || bytes > memory / samples) return std::nullopt;
  const auto varying_bytes = max_varying_bytes(fields, listing);
  if (varying_bytes > memory - bytes * samples) return std::nullopt;
  std::vector<UnitLayout::File> parts;
  for (const auto& entry : listing.entries)
    parts.push_back({entry.content.samples, entry.content.reading, entry.content.together});
  return UnitLayout(fields, parts, UnitLayout::default_unit_bytes, varying_bytes);
}

void require_materializable(const Options& options, const Listing& listing) {
  if (!options.boolean("materialize")) return;
  const auto fields = kept_fields(options, listing);
  const auto origin = options.find("materialize")->origin;
  if (skips_errors(options))
    throw UsageError(
        fmt::format("{}: materialize = true and on_error = skip cannot be combined; remove one of them", origin));
  for (const auto& field : fields)
    if (field.varies)
      throw UsageError(
          fmt::format("{}: materialize = true needs samples of one size, but those of the field {} vary in length", origin,
                      field.name));
  if (bytes_of_sample(fields) > options.bytes("memory") / samples_of(listing))
    throw UsageError(
        fmt::format("{}: materialize = true needs memory for {} samples of {} bytes, which is more than memory = {}",
                    origin, samples_of(listing), bytes_of_sample(fields), options.text("memory")));
}

DatasetValues open_values(const std::string& name, int rank, const Options& options, const Listing& listing,
                          const NodeShare& share, const std::shared_ptr<FileVerification>& verification) {
  const auto memory = options.bytes("memory"), mine = memory / static_cast<std::uint64_t>(share.ranks);
  const bool materialize = options.boolean("materialize");
  if (!share.memory && !materialize) return open_for_one_rank(options, listing, mine, verification);
  const auto layout = layout_in_memory(options, listing);
  if (!layout || (!share.memory && layout->bytes() > mine)) {
    log::run_warning(
        fmt::format("[data.{}]: materialize = true has no effect: "
                    "the values do not fit into {} bytes, this rank's part of the key 'memory'. "
                    "The values are computed again for each batch; increase 'memory' to avoid this",
                    name, mine));
    return open_for_one_rank(options, listing, mine, verification);
  }
  const auto source = open_uncached(options, listing, verification);
  const auto kept = share.memory ? share : private_share(*layout);
  const auto bytes = layout->bytes() + layout->arena_bytes();
  const auto left =
      share.memory ? bytes_ahead(bytes, memory) / static_cast<std::uint64_t>(share.ranks) : bytes_ahead(bytes, mine);
  auto cache = std::make_shared<NodeCache>(
      source.values, [files = source.files] { files->close(); }, *layout, kept,
      NodeCache::Settings{.name = name, .rank = rank, .rows = listing.rows});
  return {std::move(cache), true, materialize, left};
}

}  // namespace trainrt::data
