#include "data/hdf5/h5_resolver.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/hdf5/chunk_lookup.hpp"
#include "io/hdf5/h5_members.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"

namespace trainrt::data {

namespace {

constexpr int max_virtual_depth = 8;

std::string as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

H5Piece missing_piece(std::uint64_t rows, const io::H5Table& table) {
  return {.kind = H5Piece::Kind::missing, .rows = rows, .values = as_text(table.fill)};
}

/// Returns a piece with `rows` rows of `piece`, beginning with row `first`. A piece is a group of consecutive rows;
/// `row_bytes` is the size of a row in bytes.
H5Piece part_of(const H5Piece& piece, std::uint64_t first, std::uint64_t rows, std::uint64_t row_bytes) {
  auto part = piece;
  part.rows = rows;
  if (piece.kind == H5Piece::Kind::file)
    part.first += first * row_bytes;
  else if (piece.kind == H5Piece::Kind::kept)
    part.values = piece.values.substr(first * row_bytes, rows * row_bytes);
  else
    part.first += first;
  return part;
}

/// Returns `rows` of the rows in all `pieces`, beginning with row `first`, as one or more pieces.
std::vector<H5Piece> part_of(const std::vector<H5Piece>& pieces, std::uint64_t first, std::uint64_t rows,
                             std::uint64_t row_bytes) {
  std::vector<H5Piece> parts;
  std::uint64_t begin = 0;
  for (const auto& piece : pieces) {
    const auto from = std::max(first, begin), to = std::min(first + rows, begin + piece.rows);
    if (from < to) parts.push_back(part_of(piece, from - begin, to - from, row_bytes));
    begin += piece.rows;
  }
  return parts;
}

std::uint64_t rows_of(const io::H5Table& table, std::uint64_t row_elements) {
  return static_cast<std::uint64_t>(element_count(table.shape)) / row_elements;
}

/// Returns whether the mapping of a virtual dataset names its sources by a pattern, from which HDF5 generates the names of
/// files or datasets. A pattern contains a %.
bool is_pattern(const io::H5Mapping& mapping) { return (mapping.file + mapping.dataset).find('%') != std::string::npos; }

}  // namespace

H5Resolver::H5Resolver(const DataFile& file) {
  index_.files.push_back(file);
  index_.files.back().companions.clear();
  numbers_[file.path] = 0;
}

io::H5Id& H5Resolver::open_file(std::size_t number) {
  if (const auto found = open_.find(number); found != open_.end()) return found->second;
  std::erase_if(open_, [](const auto& each) { return each.first != 0; });
  return open_.emplace(number, io::h5_open_to_find(index_.files[number].path)).first->second;
}

/// Returns the path of the file `name`, to which the file with the index `file` refers. `name` is relative to the folder of
/// the file that contains it. Throws UsageError if the path is not below the folder of the dataset's HDF5 file; without
/// this check, an untrusted HDF5 file could make trainrt read any file.
std::string H5Resolver::path_of(std::size_t file, const std::string& name) const {
  const std::filesystem::path own(index_.files.front().path), by(index_.files[file].path);
  const auto folder = std::filesystem::absolute(own).lexically_normal().parent_path();
  const auto named = std::filesystem::absolute(by).parent_path() / name;
  const auto inside = named.lexically_normal().lexically_relative(folder);
  if (name.empty() || inside.empty() || *inside.begin() == ".." || inside == ".")
    throw UsageError(fmt::format("it refers to the file '{}', which is not in the folder of this file", name));
  return (own.parent_path() / inside).string();
}

std::size_t H5Resolver::add_file(const std::string& path) {
  if (const auto found = numbers_.find(path); found != numbers_.end()) return found->second;
  index_.files.push_back(data_file(path));
  return numbers_[path] = index_.files.size() - 1;
}

std::vector<H5Piece> H5Resolver::pieces_of(const std::string& dataset) {
  const auto table = io::h5_table(io::h5_open_dataset(file(), dataset));
  const auto rows = static_cast<std::uint64_t>(table.shape.front());
  if (rows == 0) return {};
  if (table.row_elements() == 0) return {missing_piece(rows, table)};
  if (auto pieces = resolve(0, dataset, table.row_elements(), table.dtype, 0)) return std::move(*pieces);
  require_readable_sources(table);
  return {{.kind = H5Piece::Kind::library, .rows = rows, .dataset = dataset}};
}

H5Resolver::Pieces H5Resolver::resolve(std::size_t number, const std::string& dataset, std::uint64_t row_elements,
                                       DType dtype, int depth) {
  if (depth > max_virtual_depth)
    throw UsageError(fmt::format("its virtual datasets are nested more than {} levels deep", max_virtual_depth));
  const auto table = io::h5_table(io::h5_open_dataset(open_file(number), dataset));
  if (table.dtype != dtype || static_cast<std::uint64_t>(element_count(table.shape)) % row_elements != 0)
    return std::nullopt;
  const auto rows = rows_of(table, row_elements);
  switch (table.layout) {
    case io::H5Table::Layout::missing:
      break;
    case io::H5Table::Layout::contiguous:
      require_in_file(index_.files[number], table.address, rows * row_elements * size_of(dtype));
      return std::vector<H5Piece>{
          {.kind = H5Piece::Kind::file, .rows = rows, .in = number, .first = table.address, .swapped = table.swapped}};
    case io::H5Table::Layout::external:
      return resolve_external(number, table, row_elements);
    case io::H5Table::Layout::compact:
      return std::vector<H5Piece>{{.kind = H5Piece::Kind::kept, .rows = rows, .values = as_text(table.values)}};
    case io::H5Table::Layout::chunked:
      return resolve_chunks(number, dataset, table, row_elements);
    case io::H5Table::Layout::spread:
      return resolve_virtual(number, table, row_elements, depth);
  }
  return std::vector<H5Piece>{missing_piece(rows, table)};
}

H5Resolver::Pieces H5Resolver::resolve_external(std::size_t file, const io::H5Table& table, std::uint64_t row_elements) {
  std::vector<std::size_t> numbers;  // path_of() checks the names of all files, even if the HDF5 library will read them
  for (const auto& part : table.external) numbers.push_back(add_file(path_of(file, part.file)));
  const auto row_bytes = row_elements * size_of(table.dtype);
  auto left = rows_of(table, row_elements);
  std::vector<H5Piece> pieces;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto& part = table.external[i];
    const auto number = numbers[i];
    const auto rows = std::min(part.bytes / row_bytes, left);
    if (rows < left && part.bytes % row_bytes != 0) return std::nullopt;
    if (rows == 0) continue;
    require_in_file(index_.files[number], part.offset, rows * row_bytes);
    pieces.push_back(
        {.kind = H5Piece::Kind::file, .rows = rows, .in = number, .first = part.offset, .swapped = table.swapped});
    left -= rows;
  }
  if (left > 0)
    throw UsageError(fmt::format("its external files are too short: the last {} rows of its shape are missing", left));
  return pieces;
}

H5Resolver::Pieces H5Resolver::resolve_chunks(std::size_t file, const std::string& dataset, const io::H5Table& table,
                                              std::uint64_t row_elements) {
  const bool is_one_row = static_cast<std::uint64_t>(element_count(table.shape)) == row_elements;
  if (table.row_elements() != row_elements && !is_one_row) return std::nullopt;
  const auto found = tables_.find({file, dataset, is_one_row});
  const auto number = found != tables_.end() ? found->second : add_chunks(file, dataset, table, is_one_row);
  if (is_one_row && index_.tables[number].shape.front() != 1) return std::nullopt;
  return std::vector<H5Piece>{{.kind = H5Piece::Kind::chunks, .rows = rows_of(table, row_elements), .in = number}};
}

/// Adds a table for the chunked dataset to the index, and returns the number of the table. `is_one_row`: a virtual dataset
/// uses the complete chunked dataset as one row; the table then gets an additional first axis of extent 1.
std::size_t H5Resolver::add_chunks(std::size_t file, const std::string& dataset, const io::H5Table& table,
                                   bool is_one_row) {
  H5ChunkTable made{file,          dataset, table.shape, table.chunk,         table.dtype,
                    table.swapped, {},      false,       as_text(table.fill), {}};
  find_chunks(io::h5_open_dataset(open_file(file), dataset), table, index_.files[file], made);
  if (is_one_row && !made.by_library) {
    made.shape.insert(made.shape.begin(), 1);
    made.chunk.insert(made.chunk.begin(), 1);
  }
  index_.tables.push_back(std::move(made));
  return tables_[{file, dataset, is_one_row}] = index_.tables.size() - 1;
}

H5Resolver::Pieces H5Resolver::resolve_mapping(std::size_t file, const io::H5Mapping& mapping, const io::H5Table& table,
                                               std::uint64_t row_elements, int depth) {
  const auto source = mapping.file == "." ? file : add_file(path_of(file, mapping.file));
  const auto run = mapping.run_in(io::h5_table(io::h5_open_dataset(open_file(source), mapping.dataset)).shape);
  if (!run || run->first % row_elements != 0) return std::nullopt;
  const auto pieces = resolve(source, mapping.dataset, row_elements, table.dtype, depth + 1);
  if (!pieces) return std::nullopt;
  return part_of(*pieces, run->first / row_elements, run->count / row_elements, row_elements * size_of(table.dtype));
}

H5Resolver::Pieces H5Resolver::resolve_virtual(std::size_t file, const io::H5Table& table, std::uint64_t row_elements,
                                               int depth) {
  auto mappings = table.mappings;
  for (const auto& mapping : mappings)
    if (!mapping.to || is_pattern(mapping) || mapping.to->first % row_elements != 0 ||
        mapping.to->count % row_elements != 0)
      return std::nullopt;
  std::stable_sort(mappings.begin(), mappings.end(),
                   [](const auto& one, const auto& other) { return one.to->first < other.to->first; });
  std::vector<H5Piece> pieces;
  std::uint64_t row = 0;
  for (const auto& mapping : mappings) {
    const auto to = mapping.to->first / row_elements;
    if (to < row) return std::nullopt;  // mappings overlap: only the HDF5 library can read the dataset
    if (to > row) pieces.push_back(missing_piece(to - row, table));
    const auto mapped = resolve_mapping(file, mapping, table, row_elements, depth);
    if (!mapped) return std::nullopt;
    pieces.insert(pieces.end(), mapped->begin(), mapped->end());
    row = to + mapping.to->count / row_elements;
  }
  if (const auto all = rows_of(table, row_elements); row < all) pieces.push_back(missing_piece(all - row, table));
  return pieces;
}

/// Checks the source datasets of a virtual dataset that the HDF5 library will read. Throws UsageError in three cases: a
/// source is outside of the folder of the HDF5 file; a source is missing, and HDF5 would return fill values instead; or a
/// source refers to further files, which HDF5 would open without any check.
void H5Resolver::require_readable_sources(const io::H5Table& table) {
  for (const auto& mapping : table.mappings) {
    const auto path = mapping.file == "." ? index_.files.front().path : path_of(0, mapping.file);
    if (is_pattern(mapping)) continue;
    const auto source = io::h5_table(io::h5_open_dataset(open_file(add_file(path)), mapping.dataset));
    if (source.layout == io::H5Table::Layout::spread || source.layout == io::H5Table::Layout::external)
      throw UsageError(
          fmt::format("its source dataset '{}' in '{}' is itself virtual or external, and its rows are not contiguous; "
                      "convert that file to a plain file with h5repack",
                      mapping.dataset, path));
    if (source.layout == io::H5Table::Layout::chunked) io::h5_require_filters(source.filters);
  }
}

}  // namespace trainrt::data
