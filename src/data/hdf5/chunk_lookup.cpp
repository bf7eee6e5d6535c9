#include "data/hdf5/chunk_lookup.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/inflate.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t max_listed_chunks = 1 << 24;

/// Returns the filters of a dataset. Returns nullopt if decode_chunk() cannot reverse them: an unknown filter, a
/// shuffle filter with a value size different from that of the dataset, or more than one deflate.
std::optional<std::vector<ChunkFilter>> known_filters(const io::H5Table& description) {
  std::vector<ChunkFilter> filters;
  for (const auto& filter : description.filters) {
    if (filter.id == io::H5Filter::deflate)
      filters.push_back(ChunkFilter::deflate);
    else if (filter.id == io::H5Filter::fletcher32)
      filters.push_back(ChunkFilter::fletcher32);
    else if (filter.id == io::H5Filter::shuffle && !filter.values.empty() &&
             filter.values.front() == size_of(description.dtype))
      filters.push_back(ChunkFilter::shuffle);
    else
      return std::nullopt;
  }
  if (std::count(filters.begin(), filters.end(), ChunkFilter::deflate) > 1) return std::nullopt;
  return filters;
}

/// Returns whether the chunk with the number `chunk` extends beyond the edge of the dataset.
bool is_partial(const H5ChunkTable& table, std::uint64_t chunk) {
  for (auto axis = table.shape.size(); axis-- > 0;) {
    const auto tiles = static_cast<std::uint64_t>((table.shape[axis] - 1) / table.chunk[axis] + 1);
    const auto full_tiles = static_cast<std::uint64_t>(table.shape[axis] / table.chunk[axis]);
    if (chunk % tiles >= full_tiles) return true;
    chunk /= tiles;
  }
  return false;
}

void require_possible_chunk(const DataFile& file, const H5ChunkTable& table, const io::H5Chunk& chunk) {
  const auto bytes = bytes_of_box(table.chunk, table.dtype);
  require_in_file(file, chunk.address, chunk.bytes);
  if (bytes / max_inflation > chunk.bytes)
    throw UsageError(
        fmt::format("its header declares chunks of {} bytes, but a chunk has only {} bytes in the file; "
                    "this number of bytes cannot decompress to that size",
                    bytes, chunk.bytes));
}

}  // namespace

/// Encodes the size in the file of each chunk. If the size is not 0, also encodes the filters that were skipped for the
/// chunk, and the distance of the chunk from the end of the previous chunk.
void H5ChunkList::pack(PackedWriter& into) const {
  into.number(size());
  std::uint64_t end = 0;
  for (const auto& [address, bytes, skipped] : *this) {
    into.number(bytes);
    if (bytes == 0) continue;
    into.number(skipped);
    into.integer(static_cast<std::int64_t>(address - end));
    end = address + bytes;
  }
}

void H5ChunkList::unpack(PackedReader& from) {
  resize(from.count());
  std::uint64_t end = 0;
  for (auto& chunk : *this) {
    from.get(chunk.bytes);
    if (chunk.bytes == 0) continue;
    from.get(chunk.skipped);
    chunk.address = end + static_cast<std::uint64_t>(from.integer());
    end = chunk.address + chunk.bytes;
  }
}

void require_in_file(const DataFile& file, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > file.size || bytes > file.size - offset)
    throw UsageError(fmt::format("'{}' is truncated: {} bytes must begin at byte {}, but the file has {} bytes", file.path,
                                 bytes, offset, file.size));
}

void repeat_value(std::string_view value, std::span<std::byte> out) {
  for (std::size_t at = 0; at < out.size(); at += value.size()) std::memcpy(out.data() + at, value.data(), value.size());
}

void find_chunks(hid_t dataset, const io::H5Table& description, const DataFile& file, H5ChunkTable& table) {
  const auto filters = known_filters(description);
  table.by_library = !filters || io::h5_chunk_count(table.shape, table.chunk) > max_listed_chunks;
  if (table.by_library) return io::h5_require_filters(description.filters);
  table.filters = *filters;
  table.chunks = io::h5_chunks(dataset, table.shape, table.chunk);
  for (std::uint64_t i = 0; i < table.chunks.size(); ++i) {
    auto& chunk = table.chunks[i];
    if (chunk.bytes == 0) continue;
    if (description.edges_are_unfiltered && is_partial(table, i)) chunk.skipped = ~std::uint32_t{0};
    require_possible_chunk(file, table, chunk);
  }
}

}  // namespace trainrt::data
