#include "data/hdf5/h5_expansion.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/inflate.hpp"
#include "data/bytes/expansion.hpp"
#include "data/hdf5/chunk_places.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

namespace {

/// Bytes of the values of a chunked dataset for which the file stores nothing. HDF5 does not list the chunks that it
/// decodes itself: they count as not stored if the file is too small for them, whatever their filters.
std::uint64_t undefined_bytes(const H5ChunkTable& table, std::uint64_t file_bytes) {
  const auto all = bytes_of_box(table.shape, table.dtype);
  if (table.by_library) return all / max_inflation > file_bytes ? all : 0;
  const auto missing = std::ranges::count_if(table.chunks, [](const auto& chunk) { return chunk.bytes == 0; });
  return std::min(all, static_cast<std::uint64_t>(missing) * bytes_of_box(table.chunk, table.dtype));
}

}  // namespace

void require_expandable(const H5Index& index, const std::vector<Dataset::Field>& fields, const Options& options) {
  std::uint64_t file_bytes = 0;
  for (const auto& file : index.files) file_bytes += file.size;
  const ExpansionLimit limit(options, file_bytes);
  const auto& path = index.files.front().path;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto what = fmt::format("dataset '{}' of '{}'", excerpt(index.fields[i].name), path);
    limit.require(sample_bytes(fields[i]), "a sample of " + what);
    std::uint64_t rows = 0;
    for (const auto& piece : index.fields[i].pieces) rows += piece.kind == H5Piece::Kind::missing ? piece.rows : 0;
    limit.require(rows * sample_bytes(fields[i]), fmt::format("{}, by values that the file does not store,", what));
  }
  for (const auto& table : index.tables) {
    const auto what = fmt::format("dataset '{}' of '{}'", excerpt(table.dataset), index.files.at(table.file).path);
    limit.require(bytes_of_box(table.chunk, table.dtype), fmt::format("a chunk {} of {}", to_string(table.chunk), what));
    limit.require(undefined_bytes(table, file_bytes), fmt::format("{}, by values that the file does not store,", what));
  }
}

}  // namespace trainrt::data
