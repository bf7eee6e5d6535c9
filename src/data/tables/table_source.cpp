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

/// Returns whether each index in `samples` is the previous one plus 1, as in an order that is not shuffled.
bool are_consecutive(std::span<const std::uint64_t> samples) {
  std::uint64_t differences = 0, next = samples.empty() ? 0 : samples.front();
  for (const auto sample : samples) differences |= sample ^ next++;
  return differences == 0;
}

/// Returns a block of samples that vary in length as one array of bytes: first the end of each sample, then the values.
/// Precondition: `column.values` begins with unused space for the ends.
std::vector<std::byte> with_ends(Column column, std::uint64_t rows) {
  for (auto& end : column.ends) end -= rows * end_bytes;
  if (rows > 0) std::memcpy(column.values.data(), column.ends.data(), rows * end_bytes);
  return std::move(column.values);
}

/// Returns sample `row` of a block that with_ends() returned.
std::span<const std::byte> varying_row(const std::byte* block, std::uint64_t rows, std::uint64_t row) {
  std::uint64_t begin = 0, end = 0;
  if (row > 0) std::memcpy(&begin, block + (row - 1) * end_bytes, end_bytes);
  std::memcpy(&end, block + row * end_bytes, end_bytes);
  return {block + rows * end_bytes + begin, static_cast<std::size_t>(end - begin)};
}

/// Joins several blocks into one array of bytes: first the offset of each block, then the blocks.
std::vector<std::byte> join_blocks(const std::vector<std::vector<std::byte>>& blocks) {
  auto offset = blocks.size() * end_bytes;
  std::vector<std::byte> all(offset);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::memcpy(all.data() + i * end_bytes, &offset, end_bytes);
    offset += blocks[i].size();
  }
  all.reserve(offset);
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace

TableSource::TableSource(std::string path, TablePlan plan, const Open& open, const ExpansionLimit& limit,
                         std::uint64_t cache_bytes, std::uint64_t max_kept)
    : path_(std::move(path)), limit_(limit), plan_(std::move(plan)), ends_(plan_.blocks.size()) {
  std::partial_sum(plan_.blocks.begin(), plan_.blocks.end(), ends_.begin());
  for (const auto& field : plan_.fields) fields_.push_back(field.field);
  table_ = open(plan_.blocks);
  by_rows_ = table_->is_by_rows();
  require_unchanged();
  const auto max_block = require_room(max_kept > 0);
  cache_ = std::make_unique<ChunkCacheShare>(cache_bytes == 0 ? 0 : std::max(cache_bytes, 2 * max_block));
  if (max_kept > 0) keep_all(max_kept);
}

/// Decodes all blocks and keeps them in memory. If they need more than `max_bytes` bytes in total, stops and frees them.
void TableSource::keep_all(std::uint64_t max_bytes) {
  std::uint64_t bytes = 0;
  std::vector<std::vector<ChunkCache::Values>> kept;
  for (std::size_t part = 0; part < (by_rows_ ? 1 : fields_.size()); ++part) {
    auto& blocks = kept.emplace_back();
    for (std::size_t block = 0; block < ends_.size(); ++block) {
      blocks.push_back(std::make_shared<const std::vector<std::byte>>(decode_part(part, block)));
      bytes += blocks.back()->size();
      if (bytes > max_bytes) return;
    }
  }
  kept_ = std::move(kept);
}

void TableSource::require_unchanged() const {
  bool is_same = table_->blocks() == plan_.blocks;
  for (const auto& [field, parts, must_be_exact] : plan_.fields)
    for (const auto& part : parts) {
      is_same = is_same && part.column < table_->columns().size();
      if (!is_same) break;
      const auto& column = table_->columns()[part.column];
      is_same =
          column.varies == field.varies && (parts.size() > 1 || column.shape == field.sample_shape || column.shape.empty());
    }
  if (!is_same) throw Error(fmt::format("'{}' has changed since it was listed; restore it, or start again", path_));
}

/// Throws UsageError if there is not enough memory for each block of a field or, with `keep`, for all blocks together. The
/// check is necessary because a damaged file may declare any number of rows. Returns the size of the largest block, over
/// all its fields.
std::uint64_t TableSource::require_room(bool keep) const {
  std::uint64_t max_of_field = 0, max_of_all = 0, total = 0;
  for (std::size_t block = 0; block < ends_.size(); ++block) {
    const auto before = total;
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      const auto bytes = bytes_of(field, block);
      limit_.require(bytes, fmt::format("'{}': block {} of the field '{}'", path_, block, fields_[field].name));
      max_of_field = std::max(max_of_field, bytes);
      total += bytes;
    }
    max_of_all = std::max(max_of_all, total - before);
  }
  require_memory(keep ? total : max_of_field,
                 fmt::format("'{}': {}", path_, keep ? "the values of its columns" : "a block of a column"));
  return max_of_all;
}

std::uint64_t TableSource::bytes_of(std::size_t field, std::size_t block) const {
  if (!fields_[field].varies) return rows_of(block) * sample_bytes(fields_[field]);
  return rows_of(block) * end_bytes + table_->varying_bytes(block, plan_.fields[field].parts.front().column);
}

/// Decodes the fields with the indices `first` to `end` - 1 of a block. Returns one array of bytes per field.
std::vector<std::vector<std::byte>> TableSource::decode(std::size_t first, std::size_t end, std::size_t block) const try {
  const InStage decoding(Stage::decode);
  const auto rows = rows_of(block);
  std::vector<TableTarget> targets;
  std::vector<std::vector<std::byte>> values(end - first);
  std::vector<Column> varying(end - first);
  for (std::size_t i = 0; i < end - first; ++i) {
    const auto& [field, parts, must_be_exact] = plan_.fields[first + i];
    const auto stride = field.varies ? end_bytes : sample_bytes(field);
    require_memory(rows * stride, fmt::format("a block of the field '{}'", field.name));
    auto& out = field.varies ? varying[i].values : values[i];
    out = field.varies ? std::vector<std::byte>(rows * stride) : cache_->memory(rows * stride);
    if (field.varies) varying[i].ends.reserve(rows);
    for (const auto& part : parts)
      targets.push_back(
          {.column = part.column,
           .dtype = field.dtype,
           .values = out.data() + part.offset,
           .stride = stride,
           .varying = field.varies ? &varying[i] : nullptr,
           .max_bytes = field.varies ? rows * end_bytes + std::min(limit_.bytes(), available_memory() / 2) : 0,
           .must_be_exact = must_be_exact});
  }
  table_->read(block, targets);
  for (std::size_t i = 0; i < end - first; ++i)
    if (fields_[first + i].varies) values[i] = with_ends(std::move(varying[i]), rows);
  return values;
} catch (const io::StorageError&) {
  throw;
} catch (const UsageError& error) {
  throw UsageError(fmt::format("'{}', block {}: {}", path_, block, error.what()));
} catch (const Error& error) {
  throw Error(fmt::format("'{}', block {}: {}", path_, block, error.what()));
}

std::vector<std::byte> TableSource::decode_part(std::size_t part, std::size_t block) const {
  if (by_rows_) return join_blocks(decode(0, fields_.size(), block));
  return std::move(decode(part, part + 1, block).front());
}

TableSource::Block TableSource::block_of(std::size_t field, std::size_t block) const {
  const auto part = by_rows_ ? 0 : field;
  const auto bytes = bytes_of(field, block) * (by_rows_ ? fields_.size() : 1);
  const auto make = [&](std::uint64_t number) { return decode_part(part, number); };
  auto owner = kept_.empty() ? cache_->get(part, block, bytes, make, 0) : kept_[part][block];
  std::uint64_t offset = 0;
  if (by_rows_) std::memcpy(&offset, owner->data() + field * end_bytes, end_bytes);
  const auto* const values = owner->data() + offset;
  return {std::move(owner), values};
}

std::vector<TableSource::RowRun> TableSource::runs_of(std::span<const std::uint64_t> samples) const {
  std::vector<RowRun> runs;
  const bool is_one = are_consecutive(samples);
  const bool is_sorted = is_one || std::is_sorted(samples.begin(), samples.end());
  std::vector<std::size_t> requests(is_sorted ? 0 : samples.size());  // positions in `samples`, sorted by sample
  std::iota(requests.begin(), requests.end(), std::size_t{0});
  std::sort(requests.begin(), requests.end(), [&](auto one, auto other) { return samples[one] < samples[other]; });
  std::size_t block = 0;
  for (std::size_t i = 0, count = 1; i < samples.size(); i += count) {
    const auto request = is_sorted ? i : requests[i];
    const auto first = samples[request];
    if (runs.empty() || first >= ends_[block])
      block = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
    const auto max_count = std::min<std::uint64_t>(samples.size() - i, ends_[block] - first);
    count = is_one ? max_count : 1;
    if (is_sorted)
      while (count < max_count && samples[request + count] == first + count) ++count;
    else
      while (count < max_count && requests[i + count] == request + count && samples[request + count] == first + count)
        ++count;
    runs.push_back({block, first - first_of(block), request, count});
  }
  return runs;
}

void TableSource::read_fixed(std::span<const RowRun> runs, std::size_t samples, Column& column) const {
  const auto bytes = sample_bytes(fields_[column.field]);
  column.values.resize(samples * bytes);
  Block block;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    if (i == 0 || run.block != runs[i - 1].block) block = block_of(column.field, run.block);
    std::memcpy(column.values.data() + run.request * bytes, block.values + run.row * bytes, run.count * bytes);
  }
}

void TableSource::read_varying(std::span<const RowRun> runs, std::size_t samples, Column& column) const {
  std::vector<Block> blocks;
  std::vector<std::span<const std::byte>> rows(samples);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    if (i == 0 || run.block != runs[i - 1].block) blocks.push_back(block_of(column.field, run.block));
    for (std::size_t n = 0; n < run.count; ++n) {
      rows[run.request + n] = varying_row(blocks.back().values, rows_of(run.block), run.row + n);
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
  constexpr std::uint64_t max_factor = 4;  // a small file may expand to much larger values
  std::uint64_t max_kept = keep == Keep::always ? std::numeric_limits<std::uint64_t>::max() : 0, bytes = 0;
  for (const auto& field : content.fields) bytes += content.samples * (field.varies ? end_bytes : sample_bytes(field));
  if (keep == Keep::if_small && bytes / max_factor <= file.size) max_kept = max_factor * file.size;
  return std::make_unique<TableSource>(file.path, plan_of(content), open, ExpansionLimit(options, file.size),
                                       options.bytes("chunk_cache"), max_kept);
}

}  // namespace trainrt::data
