#include "data/hdf5/chunk_lookup.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/inflate.hpp"
#include "io/hdf5/h5_table.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t most_listed_chunks = 1 << 24;

/// The filters, if all of them are undone here. One that shuffles values of another size than the dataset's is left to
/// HDF5.
std::optional<std::vector<ChunkFilter>> own_filters(const io::H5Table& description) {
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

/// Whether chunk number `chunk` reaches beyond the dataset.
bool is_partial(const H5ChunkTable& table, std::uint64_t chunk) {
  for (auto axis = table.shape.size(); axis-- > 0;) {
    const auto tiles = static_cast<std::uint64_t>((table.shape[axis] - 1) / table.chunk[axis] + 1);
    const auto whole = static_cast<std::uint64_t>(table.shape[axis] / table.chunk[axis]);
    if (chunk % tiles >= whole) return true;
    chunk /= tiles;
  }
  return false;
}

void require_possible_chunk(const DataFile& file, const H5ChunkTable& table, const io::H5Chunk& chunk) {
  const auto bytes = static_cast<std::uint64_t>(element_count(table.chunk)) * size_of(table.dtype);
  require_in_file(file, chunk.address, chunk.bytes);
  if (bytes / largest_inflation > chunk.bytes)
    throw UsageError(fmt::format(
        "its header promises chunks of {} bytes, and one of {} bytes in the file cannot give as many", bytes, chunk.bytes));
}

}  // namespace

void require_in_file(const DataFile& file, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > file.size || bytes > file.size - offset)
    throw UsageError(fmt::format("'{}' is truncated: {} bytes are to begin at byte {}, and it has {} bytes", file.path,
                                 bytes, offset, file.size));
}

void require_readable_filters(const io::H5Table& description) { io::h5_require_filters(description.filters); }

void find_chunks(hid_t dataset, const io::H5Table& description, const DataFile& file, H5ChunkTable& table) {
  const auto filters = own_filters(description);
  table.by_library = !filters || io::h5_chunk_count(table.shape, table.chunk) > most_listed_chunks;
  if (table.by_library) return require_readable_filters(description);
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
