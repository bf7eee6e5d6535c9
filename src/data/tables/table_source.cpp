#include "data/tables/table_source.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/bytes/stage_clock.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t end_bytes = sizeof(std::uint64_t);

/// Each the one behind that before it, as in an order that is not shuffled.
bool are_neighbours(std::span<const std::uint64_t> samples) {
  std::uint64_t differences = 0, next = samples.empty() ? 0 : samples.front();
  for (const auto sample : samples) differences |= sample ^ next++;
  return differences == 0;
}

std::vector<std::size_t> requests_in_order(std::span<const std::uint64_t> samples) {
  std::vector<std::size_t> requests(samples.size());
  std::iota(requests.begin(), requests.end(), std::size_t{0});
  std::sort(requests.begin(), requests.end(), [&](auto one, auto other) { return samples[one] < samples[other]; });
  return requests;
}

/// Of a block of samples that vary in length: their ends, then their values.
std::vector<std::byte> with_ends(Column column, std::uint64_t rows) {
  for (auto& end : column.ends) end -= rows * end_bytes;
  std::memcpy(column.values.data(), column.ends.data(), rows * end_bytes);
  return std::move(column.values);
}

std::span<const std::byte> varying_row(const std::byte* block, std::uint64_t rows, std::uint64_t row) {
  std::uint64_t begin = 0, end = 0;
  if (row > 0) std::memcpy(&begin, block + (row - 1) * end_bytes, end_bytes);
  std::memcpy(&end, block + row * end_bytes, end_bytes);
  return {block + rows * end_bytes + begin, static_cast<std::size_t>(end - begin)};
}

/// Several as one: where each begins, then all.
std::vector<std::byte> joined(const std::vector<std::vector<std::byte>>& parts) {
  auto at = parts.size() * end_bytes;
  std::vector<std::byte> all(at);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(all.data() + i * end_bytes, &at, end_bytes);
    at += parts[i].size();
  }
  all.reserve(at);
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TableSource::TableSource(std::string path, TablePlan plan, const Open& open, const ExpansionLimit& limit,
                         std::uint64_t cache_bytes, std::uint64_t most_kept)
    : path_(std::move(path)), limit_(limit), plan_(std::move(plan)), ends_(plan_.blocks.size()) {
  std::partial_sum(plan_.blocks.begin(), plan_.blocks.end(), ends_.begin());
  for (const auto& field : plan_.fields) fields_.push_back(field.field);
  table_ = open(plan_.blocks);
  by_rows_ = table_->is_by_rows();
  require_unchanged();
  require_room(most_kept > 0);
  std::uint64_t largest = 0;
  for (std::size_t block = 0; block < ends_.size(); ++block) {
    std::uint64_t bytes = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field) bytes += bytes_of(field, block);
    largest = std::max(largest, bytes);
  }
  cache_ = std::make_unique<ChunkCacheShare>(cache_bytes == 0 ? 0 : std::max(cache_bytes, 2 * largest));
  if (most_kept > 0) keep_all(most_kept);
}

/// Nothing is kept if it is more.
void TableSource::keep_all(std::uint64_t most_bytes) {
  std::uint64_t bytes = 0;
  std::vector<std::vector<ChunkCache::Values>> kept;
  for (std::size_t part = 0; part < (by_rows_ ? 1 : fields_.size()); ++part) {
    auto& blocks = kept.emplace_back();
    for (std::size_t block = 0; block < ends_.size(); ++block) {
      blocks.push_back(std::make_shared<const std::vector<std::byte>>(made(part, block)));
      bytes += blocks.back()->size();
      if (bytes > most_bytes) return;
    }
  }
  kept_ = std::move(kept);
}

void TableSource::require_unchanged() const {
  bool is_same = table_->blocks() == plan_.blocks;
  for (const auto& [field, parts, must_fit] : plan_.fields)
    for (const auto& part : parts) {
      is_same = is_same && part.column < table_->columns().size();
      if (!is_same) break;
      const auto& column = table_->columns()[part.column];
      is_same =
          column.varies == field.varies && (parts.size() > 1 || column.shape == field.sample_shape || column.shape.empty());
    }
  if (!is_same) throw Error(fmt::format("'{}' was changed since it was first looked at", path_));
}

/// A row is no promise: what a footer claims must fit into memory before it is believed.
void TableSource::require_room(bool keep) const {
  std::uint64_t most = 0, all = 0;
  for (std::size_t block = 0; block < ends_.size(); ++block)
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      const auto bytes = bytes_of(field, block);
      limit_.require(bytes, fmt::format("'{}': block {} of the field '{}'", path_, block, fields_[field].name));
      most = std::max(most, bytes);
      all += bytes;
    }
  require_memory(keep ? all : most, fmt::format("'{}': {}", path_, keep ? "what its columns hold" : "a block of a column"));
}

std::uint64_t TableSource::bytes_of(std::size_t field, std::size_t block) const {
  if (!fields_[field].varies) return rows_of(block) * sample_bytes(fields_[field]);
  return rows_of(block) * end_bytes + table_->bytes_of(block, plan_.fields[field].parts.front().column);
}

std::size_t TableSource::block_of(std::uint64_t sample) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
}

/// The fields from `first` to `end`.
std::vector<std::vector<std::byte>> TableSource::decoded(std::size_t first, std::size_t end, std::size_t block) const try {
  const InStage decoding(Stage::decode);
  const auto rows = rows_of(block);
  std::vector<TableTarget> targets;
  std::vector<std::vector<std::byte>> values(end - first);
  std::vector<Column> varying(end - first);
  for (auto field = first; field < end; ++field) {
    const auto& [of_field, parts, must_fit] = plan_.fields[field];
    const auto stride = of_field.varies ? end_bytes : sample_bytes(of_field);
    require_memory(rows * stride, fmt::format("a block of the field '{}'", of_field.name));
    auto& into = of_field.varies ? varying[field - first].values : values[field - first];
    into = of_field.varies ? std::vector<std::byte>(rows * stride) : cache_->memory(rows * stride);
    if (of_field.varies) varying[field - first].ends.reserve(rows);
    for (const auto& part : parts)
      targets.push_back(
          {.column = part.column,
           .dtype = of_field.dtype,
           .values = into.data() + part.offset,
           .stride = stride,
           .varying = of_field.varies ? &varying[field - first] : nullptr,
           .most_bytes = of_field.varies ? rows * end_bytes + std::min(limit_.bytes(), available_memory() / 2) : 0,
           .must_fit = must_fit});
  }
  table_->read(block, targets);
  for (auto field = first; field < end; ++field)
    if (fields_[field].varies) values[field - first] = with_ends(std::move(varying[field - first]), rows);
  return values;
} catch (const io::StorageError&) {
  throw;
} catch (const UsageError& error) {
  throw UsageError(fmt::format("'{}', block {}: {}", path_, block, error.what()));
} catch (const Error& error) {
  throw Error(fmt::format("'{}', block {}: {}", path_, block, error.what()));
}

/// A field's block, or all fields' if they are read together.
std::vector<std::byte> TableSource::made(std::size_t part, std::size_t block) const {
  if (by_rows_) return joined(decoded(0, fields_.size(), block));
  return std::move(decoded(part, part + 1, block).front());
}

TableSource::Block TableSource::values_of(std::size_t field, std::size_t block) const {
  const auto part = by_rows_ ? 0 : field;
  auto held = kept_.empty() ? cache_->get(
                                  part, block, bytes_of(field, block) * (by_rows_ ? fields_.size() : 1),
                                  [&](std::uint64_t wanted) { return made(part, wanted); }, 0)
                            : kept_[part][block];
  std::uint64_t begin = 0;
  if (by_rows_) std::memcpy(&begin, held->data() + field * end_bytes, end_bytes);
  const auto* const values = held->data() + begin;
  return {std::move(held), values};
}

std::vector<TableSource::Run> TableSource::runs_of(std::span<const std::uint64_t> samples) const {
  std::vector<Run> runs;
  const bool is_one = are_neighbours(samples);
  const bool is_ordered = is_one || std::is_sorted(samples.begin(), samples.end());
  const auto requests = is_ordered ? std::vector<std::size_t>() : requests_in_order(samples);
  std::size_t block = 0;
  for (std::size_t i = 0, count = 1; i < samples.size(); i += count) {
    const auto request = is_ordered ? i : requests[i];
    const auto first = samples[request];
    if (runs.empty() || first >= ends_[block]) block = block_of(first);
    const auto most = std::min<std::uint64_t>(samples.size() - i, ends_[block] - first);
    count = is_one ? most : 1;
    if (is_ordered)
      while (count < most && samples[request + count] == first + count) ++count;
    else
      while (count < most && requests[i + count] == request + count && samples[request + count] == first + count) ++count;
    runs.push_back({block, first - first_of(block), request, count});
  }
  return runs;
}

void TableSource::read_fixed(std::span<const Run> runs, std::size_t samples, Column& column) const {
  const auto bytes = sample_bytes(fields_[column.field]);
  column.values.resize(samples * bytes);
  Block block;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    if (i == 0 || run.block != runs[i - 1].block) block = values_of(column.field, run.block);
    std::memcpy(column.values.data() + run.request * bytes, block.values + run.row * bytes, run.count * bytes);
  }
}

void TableSource::read_varying(std::span<const Run> runs, std::size_t samples, Column& column) const {
  std::vector<Block> held;
  std::vector<std::span<const std::byte>> rows(samples);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    if (i == 0 || run.block != runs[i - 1].block) held.push_back(values_of(column.field, run.block));
    for (std::size_t n = 0; n < run.count; ++n) {
      rows[run.request + n] = varying_row(held.back().values, rows_of(run.block), run.row + n);
      bytes += rows[run.request + n].size();
    }
  }
  column.values.clear();
  column.values.reserve(bytes);
  for (const auto& row : rows) {
    column.values.insert(column.values.end(), row.begin(), row.end());
    column.ends.push_back(column.values.size());
  }
}

void TableSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  const auto runs = runs_of(samples);
  for (auto& column : columns) {
    column.ends.clear();
    if (fields_[column.field].varies)
      read_varying(runs, samples.size(), column);
    else
      read_fixed(runs, samples.size(), column);
  }
}

std::unique_ptr<Source> open_table(const DataFile& file, const FileContent& content, const Options& options, Keep keep,
                                   const TableSource::Open& open) {
  constexpr std::uint64_t most_times = 4;  // that files are small says little of what they become
  std::uint64_t most_kept = keep == Keep::always ? std::numeric_limits<std::uint64_t>::max() : 0, bytes = 0;
  for (const auto& field : content.fields) bytes += content.samples * (field.varies ? end_bytes : sample_bytes(field));
  if (keep == Keep::if_small && bytes / most_times <= file.size) most_kept = most_times * file.size;
  return std::make_unique<TableSource>(file.path, plan_of(content), open, ExpansionLimit(options, file.size),
                                       options.bytes("chunk_cache"), most_kept);
}

}  // namespace trainrt::data
