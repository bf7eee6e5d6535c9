#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "core/text/text.hpp"
#include "data/bytes/open_file_cache.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/bytes/verify.hpp"
#include "data/hdf5/chunk_lookup.hpp"
#include "data/hdf5/chunked_rows.hpp"
#include "data/hdf5/h5_probe.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data::plugins {

namespace {

/// Returns a reader of a dataset's rows that calls the HDF5 library. Reads consecutive rows by one call of the library.
RowReader rows_by_library(const std::string& path, const std::string& dataset, const Dataset::Field& field) {
  auto row = field.sample_shape;
  row.insert(row.begin(), 1);
  return {[reader = std::make_shared<const io::H5Reader>(path, dataset, field.dtype), row = std::move(row),
           row_bytes = sample_bytes(field)](std::span<const std::uint64_t> rows, std::byte* out) {
    const InStage reading(Stage::storage);
    Shape start(row.size()), shape = row;
    for (std::size_t at = 0, count = 1; at < rows.size(); at += count, out += count * row_bytes) {
      for (count = 1; at + count < rows.size() && rows[at + count] == rows[at] + count;) ++count;
      start.front() = static_cast<std::int64_t>(rows[at]);
      shape.front() = static_cast<std::int64_t>(count);
      reader->read(start, shape, out);
    }
  }};
}

/// Consecutive rows of a field: `rows` rows of `from`, beginning with the row that has the index `first` in `from`.
struct RowPiece {
  std::uint64_t rows = 0, first = 0;
  RowReader from;
};

/// Returns a reader of all rows of a field, which are the rows of `pieces`, one piece after another.
RowReader rows_of_pieces(std::vector<RowPiece> pieces, std::size_t row_bytes) {
  if (pieces.size() == 1 && pieces[0].first == 0) return pieces[0].from;
  const bool is_resident = std::ranges::all_of(pieces, [](const auto& piece) { return piece.from.is_resident; });
  std::vector<std::uint64_t> ends;
  for (const auto& piece : pieces) ends.push_back((ends.empty() ? 0 : ends.back()) + piece.rows);
  return {
      [pieces = std::move(pieces), ends = std::move(ends), row_bytes](std::span<const std::uint64_t> rows, std::byte* out) {
        std::vector<std::uint64_t> within;
        for (std::size_t at = 0; at < rows.size(); out += within.size() * row_bytes) {
          const auto number = static_cast<std::size_t>(std::ranges::upper_bound(ends, rows[at]) - ends.begin());
          const auto& piece = pieces[number];
          const auto begin = ends[number] - piece.rows;
          within.clear();
          for (; at < rows.size() && rows[at] >= begin && rows[at] < ends[number]; ++at)
            within.push_back(rows[at] - begin + piece.first);
          piece.from.read(within, out);
        }
      },
      is_resident};
}

/// Reads all rows of `from` (`rows` rows) into memory, and returns a reader of this memory.
RowReader kept_rows(const RowReader& from, std::uint64_t rows, std::size_t row_bytes) {
  constexpr std::uint64_t rows_per_read = 4096;
  std::vector<std::byte> all(rows * row_bytes);
  for (std::uint64_t first = 0; first < rows; first += rows_per_read)
    from.read(consecutive(first, std::min(rows_per_read, rows - first)), all.data() + first * row_bytes);
  return rows_in_memory(std::move(all), row_bytes);
}

/// Makes the readers of the fields of one file. The readers share the open files, the cache and the chunked datasets.
class FieldOpener {
 public:
  /// `keep`: open() reads all rows into memory.
  FieldOpener(const H5Index& index, std::uint64_t cache_bytes, bool keep)
      : index_(index),
        keep_(keep),
        files_(std::make_shared<OpenFileCache>(index.files)),
        cache_(std::make_shared<ChunkCacheShare>(cache_bytes)) {}

  /// Returns a reader of the rows of a field. Throws UsageError if there is not enough memory for a sample or a chunk.
  RowReader open(const H5Field& in_file, const Dataset::Field& field) {
    const auto row_bytes = sample_bytes(field);
    require_memory(row_bytes, fmt::format("a sample of dataset '{}' of '{}'", in_file.name, index_.files.front().path));
    std::uint64_t samples = 0;
    std::vector<RowPiece> pieces;
    for (const auto& piece : in_file.pieces) {
      samples += piece.rows;
      const bool is_part_of_dataset = piece.kind == H5Piece::Kind::chunks || piece.kind == H5Piece::Kind::library;
      pieces.push_back({piece.rows, is_part_of_dataset ? piece.first : 0, open_piece(piece, field)});
    }
    auto rows = rows_of_pieces(std::move(pieces), row_bytes);
    return keep_ && !rows.is_resident ? kept_rows(rows, samples, row_bytes) : rows;
  }

 private:
  RowReader open_piece(const H5Piece& piece, const Dataset::Field& field) {
    const auto row_bytes = sample_bytes(field);
    switch (piece.kind) {
      case H5Piece::Kind::file:
        return {[files = files_, number = piece.in, layout = RowLayout{piece.first, piece.rows, row_bytes, piece.swapped}](
                    auto rows, auto* out) { read_rows(*files->get(number), layout, rows, out); }};
      case H5Piece::Kind::chunks:
        return {[chunks = open_chunks(piece.in)](auto rows, auto* out) { chunks->read(rows, out); }};
      case H5Piece::Kind::library:
        return rows_by_library(index_.files.at(piece.in).path, piece.dataset, field);
      case H5Piece::Kind::kept: {
        const auto values = std::as_bytes(std::span(piece.values));
        return rows_in_memory({values.begin(), values.end()}, row_bytes);
      }
      case H5Piece::Kind::missing:
        break;
    }
    return {[fill = piece.values, row_bytes](auto rows, auto* out) {
              repeat_value(fill, {out, rows.size() * row_bytes});
            },
            true};
  }

  /// Returns a reader of the chunked dataset with the index `number` in H5Index::tables. All pieces of the same dataset
  /// share one reader.
  std::shared_ptr<const ChunkedRows> open_chunks(std::size_t number) {
    auto& rows = chunked_[number];
    const auto& table = index_.tables.at(number);
    if (!rows) rows = std::make_shared<ChunkedRows>(table, number, files_, index_.files.at(table.file).path, cache_);
    return rows;
  }

  const H5Index& index_;
  bool keep_;
  std::shared_ptr<const OpenFileCache> files_;
  std::shared_ptr<ChunkCacheShare> cache_;
  std::map<std::size_t, std::shared_ptr<const ChunkedRows>> chunked_;  // readers, by index in H5Index::tables
};

/// Returns the index in `content` with the settings of this rank: other files to which the HDF5 file refers are read by the
/// same method as the HDF5 file, and Fletcher-32 checksums are not verified if `verify` is off.
H5Index index_of(const DataFile& file, const FileContent& content, Verify verify) {
  auto index = unpacked<H5Index>(content.index);
  for (auto& part : index.files) part.read_method = file.read_method;
  if (verify == Verify::off)
    for (auto& table : index.tables)
      std::ranges::replace(table.filters, ChunkFilter::fletcher32, ChunkFilter::ignored_fletcher32);
  return index;
}

FileContent probe_hdf5(const DataFile& file, const Options& options) {
  return probe_h5(file, options.text("group"), words_in(options.text("fields")), options);
}

/// Returns whether the values need at most 4 times as many bytes as the file. The values of a compressed file, or of a file
/// that refers to other files, may need many more.
bool is_about_its_size(const DataFile& file, const FileContent& content) {
  constexpr std::uint64_t max_factor = 4;
  std::uint64_t row_bytes = 0;
  for (const auto& field : content.fields) row_bytes += sample_bytes(field);
  return row_bytes * content.samples / max_factor <= file.size;
}

std::unique_ptr<Source> open_hdf5(const DataFile& file, const FileContent& content, const Options& options, bool keep) {
  const auto index = index_of(file, content, verify_of(options));
  FieldOpener opener(index, options.bytes("chunk_cache"), keep && is_about_its_size(file, content));
  auto source = std::make_unique<RowSource>(content.samples);
  for (std::size_t i = 0; i < index.fields.size(); ++i)
    source->add(content.fields.at(i), opener.open(index.fields[i], content.fields[i]));
  return source;
}

}  // namespace

extern const Format hdf5{
    .name = "hdf5",
    .help =
        "HDF5 files: each dataset is a field, and its first axis counts the samples; "
        "contiguous, chunked (also with gzip) and virtual datasets",
    .options = {{.key = "group",
                 .default_value = "",
                 .help = "group that contains the datasets; by default the root group"},
                {.key = "fields",
                 .default_value = "",
                 .help = "datasets to read, separated by commas, as paths below the group; "
                         "by default all datasets of numbers"},
                {.key = "chunk_cache",
                 .type = OptionType::bytes,
                 .default_value = "128 MiB",
                 .help = "memory for decompressed chunks of all HDF5 files of a rank"}},
    .probe = probe_hdf5,
    .open = open_hdf5,
    .is_name_of =
        [](std::string_view name) { return name.ends_with(".h5") || name.ends_with(".hdf5") || name.ends_with(".he5"); },
    .read_cache = "chunk_cache",
    .checksums = "Fletcher-32 or gzip's checksum per chunk, if the file was written with one"};

}  // namespace trainrt::data::plugins
