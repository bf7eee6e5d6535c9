#include "data/hdf5/chunked_rows.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/hdf5/chunk_filters.hpp"
#include "data/hdf5/chunk_lookup.hpp"
#include "data/source/row_source.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

ChunkedRows::ChunkedRows(H5ChunkTable table, std::size_t number, std::shared_ptr<const OpenFileCache> files,
                         std::string path, std::shared_ptr<ChunkCacheShare> cache)
    : table_(std::move(table)),
      number_(number),
      files_(std::move(files)),
      path_(std::move(path)),
      cache_(std::move(cache)),
      axis_bytes_(table_.shape.size(), size_of(table_.dtype)) {
  if (table_.by_library) library_ = std::make_unique<io::H5Reader>(path_, table_.dataset, table_.dtype);
  for (std::size_t axis = 0; axis < table_.shape.size(); ++axis) {
    tiles_.push_back((table_.shape[axis] + table_.chunk[axis] - 1) / table_.chunk[axis]);
    if (axis > 0) per_band_ *= static_cast<std::uint64_t>(tiles_.back());
  }
  for (auto axis = table_.shape.size() - 1; axis-- > 0;)
    axis_bytes_[axis] = axis_bytes_[axis + 1] * static_cast<std::size_t>(table_.shape[axis + 1]);
  require_memory(2 * bytes_of_box(table_.chunk, table_.dtype),
                 fmt::format("reading a chunk {} of dataset '{}' of '{}'", to_string(table_.chunk), table_.dataset, path_));
}

ChunkedRows::Box ChunkedRows::box_of(std::uint64_t chunk) const {
  Box box;
  box.start.resize(tiles_.size());
  box.count.resize(tiles_.size());
  for (auto axis = tiles_.size(); axis-- > 0;) {
    const auto tiles = static_cast<std::uint64_t>(tiles_[axis]);
    box.start[axis] = static_cast<std::int64_t>(chunk % tiles) * table_.chunk[axis];
    box.count[axis] = std::min(table_.chunk[axis], table_.shape[axis] - box.start[axis]);
    chunk /= tiles;
  }
  box.stored = library_ ? box.count : table_.chunk;
  return box;
}

std::vector<std::byte> ChunkedRows::read_chunk(std::uint64_t chunk, const Box& box) const {
  const auto bytes = bytes_of_box(box.stored, table_.dtype);
  if (library_) {
    const InStage reading(Stage::storage);
    std::vector<std::byte> values(bytes);
    library_->read(box.start, box.count, values.data());
    return values;
  }
  const auto& position = table_.chunks[chunk];
  if (position.bytes == 0) {
    std::vector<std::byte> values(bytes);
    repeat_value(table_.fill, values);
    return values;
  }
  try {
    std::vector<std::byte> stored(position.bytes);
    files_->get(table_.file)->read(position.address, stored);
    return decode_chunk(table_, position, std::move(stored), bytes);
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("the chunk at {} of dataset '{}' of '{}' ({} bytes at byte {}) cannot be read: {}",
                            to_string(box.start), table_.dataset, path_, position.bytes, position.address, error.what()));
  }
}

ChunkCache::Values ChunkedRows::values_of(std::uint64_t chunk, const Box& box) const {
  const auto make = [&](std::uint64_t wanted) { return read_chunk(wanted, wanted == chunk ? box : box_of(wanted)); };
  return cache_->get(number_, chunk, bytes_of_box(box.stored, table_.dtype), make, table_.chunks.size());
}

/// Copies the part of one row that is in `box` from the decoded chunk `from` to the row `to`. Calls itself for each axis
/// after `axis`.
void ChunkedRows::copy(const Box& box, std::size_t axis, const std::byte* from, std::byte* to) const {
  auto step = size_of(table_.dtype);
  if (axis + 1 >= box.count.size()) {
    std::memcpy(to, from, axis < box.count.size() ? static_cast<std::size_t>(box.count[axis]) * step : step);
    return;
  }
  for (auto inner = axis + 1; inner < box.stored.size(); ++inner) step *= static_cast<std::size_t>(box.stored[inner]);
  for (std::int64_t i = 0; i < box.count[axis]; ++i, from += step, to += axis_bytes_[axis]) copy(box, axis + 1, from, to);
}

/// Reads those elements of `rows` that have the indices `requests`. All these rows must be in the same band, which is a row
/// of chunks.
void ChunkedRows::read_band(std::span<const std::uint64_t> rows, std::span<const std::size_t> requests,
                            std::byte* out) const {
  const auto row_bytes = axis_bytes_.front();
  const auto band = rows[requests.front()] / static_cast<std::uint64_t>(table_.chunk.front());
  for (std::uint64_t tile = 0; tile < per_band_; ++tile) {
    const auto box = box_of(band * per_band_ + tile);
    const auto values = values_of(band * per_band_ + tile, box);
    const auto stored_row = bytes_of_box(box.stored, table_.dtype) / static_cast<std::size_t>(box.stored.front());
    const bool has_complete_rows = stored_row == row_bytes && per_band_ == 1;
    std::size_t offset = 0;  // offset of the box in a row
    for (std::size_t axis = 1; axis < box.start.size(); ++axis)
      offset += static_cast<std::size_t>(box.start[axis]) * axis_bytes_[axis];
    for (const auto request : requests) {
      const auto* from = values->data() + (rows[request] - static_cast<std::uint64_t>(box.start.front())) * stored_row;
      auto* to = out + request * row_bytes + offset;
      if (has_complete_rows)
        std::memcpy(to, from, row_bytes);
      else
        copy(box, 1, from, to);
    }
  }
}

void ChunkedRows::read(std::span<const std::uint64_t> rows, std::byte* out) const {
  if (axis_bytes_.front() == 0) return;  // the rows are empty, because an axis has the extent 0
  const auto requests = in_row_order(rows);
  const auto height = static_cast<std::uint64_t>(table_.chunk.front());
  for (std::size_t at = 0; at < requests.size();) {
    auto end = at + 1;
    while (end < requests.size() && rows[requests[end]] / height == rows[requests[at]] / height) ++end;
    read_band(rows, std::span(requests).subspan(at, end - at), out);
    at = end;
  }
}

}  // namespace trainrt::data
