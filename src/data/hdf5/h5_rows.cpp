#include "data/hdf5/h5_rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/bytes/open_file_cache.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/hdf5/chunk_lookup.hpp"
#include "data/hdf5/chunked_rows.hpp"
#include "data/hdf5/pieced_rows.hpp"
#include "data/source/row_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

namespace {

/// Rows of a field that is one contiguous dataset.
class ContiguousRows final : public Rows {
 public:
  ContiguousRows(const DataFile& file, const RowLayout& place, bool keep)
      : rows_(std::make_shared<InputFile>(file), place, keep) {}
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override { rows_.read(rows, out); }
  bool is_resident() const override { return rows_.is_resident(); }

 private:
  RowFile rows_;
};

/// Rows of a contiguous piece in one of many files. The file is opened when it is first read.
class FileRows final : public Rows {
 public:
  FileRows(std::shared_ptr<const OpenFileCache> files, std::size_t file, const RowLayout& place)
      : files_(std::move(files)), file_(file), place_(place) {}
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    read_rows(*files_->get(file_), place_, rows, out);
  }

 private:
  std::shared_ptr<const OpenFileCache> files_;
  std::size_t file_;
  RowLayout place_;
};

/// Rows that are read by the HDF5 library.
class LibraryRows final : public Rows {
 public:
  LibraryRows(const std::string& path, const std::string& dataset, const Dataset::Field& field)
      : reader_(path, dataset, field.dtype), row_(field.sample_shape), row_bytes_(sample_bytes(field)) {
    row_.insert(row_.begin(), 1);
  }
  /// Consecutive rows are read in one call.
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    const InStage reading(Stage::storage);
    Shape start(row_.size()), shape = row_;
    for (std::size_t at = 0, count = 1; at < rows.size(); at += count, out += count * row_bytes_) {
      for (count = 1; at + count < rows.size() && rows[at + count] == rows[at] + count;) ++count;
      start.front() = static_cast<std::int64_t>(rows[at]);
      shape.front() = static_cast<std::int64_t>(count);
      reader_.read(start, shape, out);
    }
  }

 private:
  io::H5Reader reader_;
  Shape row_;
  std::size_t row_bytes_;
};

/// Rows in memory.
class KeptRows final : public Rows {
 public:
  KeptRows(std::string values, std::size_t row_bytes) : values_(std::move(values)), row_bytes_(row_bytes) {}
  /// Reads all rows of `from`, which has `rows` rows.
  KeptRows(const Rows& from, std::uint64_t rows, std::size_t row_bytes)
      : values_(rows * row_bytes, '\0'), row_bytes_(row_bytes) {
    constexpr std::uint64_t rows_per_read = 4096;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t first = 0; first < rows; first += numbers.size()) {
      numbers.resize(std::min(rows_per_read, rows - first));
      std::iota(numbers.begin(), numbers.end(), first);
      from.read(numbers, reinterpret_cast<std::byte*>(values_.data() + first * row_bytes));
    }
  }
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    copy_rows(std::as_bytes(std::span(values_)), row_bytes_, rows, out);
  }
  bool is_resident() const override { return true; }

 private:
  std::string values_;
  std::size_t row_bytes_;
};

/// Rows that were never written and have the fill value.
class MissingRows final : public Rows {
 public:
  MissingRows(std::string fill, std::size_t row_bytes) : fill_(std::move(fill)), row_bytes_(row_bytes) {}
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    repeat_value(fill_, {out, rows.size() * row_bytes_});
  }
  bool is_resident() const override { return true; }

 private:
  std::string fill_;
  std::size_t row_bytes_;
};

/// Makes the readers of the fields of one file. The readers share the open files, the cache and the chunked datasets.
class FieldOpener {
 public:
  FieldOpener(const H5Index& index, std::uint64_t cache_bytes, bool keep)
      : index_(index),
        keep_(keep),
        files_(std::make_shared<OpenFileCache>(index.files)),
        cache_(std::make_shared<ChunkCacheShare>(cache_bytes)) {}

  std::unique_ptr<Rows> open(const H5Field& in_file, const Dataset::Field& field) {
    const auto row_bytes = sample_bytes(field);
    require_memory(row_bytes, fmt::format("a sample of dataset '{}' of '{}'", in_file.name, index_.files.front().path));
    if (in_file.pieces.size() == 1 && in_file.pieces[0].kind == H5Piece::Kind::file) {
      const auto& piece = in_file.pieces[0];
      return std::make_unique<ContiguousRows>(index_.files.at(piece.in), place_of(piece, row_bytes), keep_);
    }
    std::uint64_t samples = 0;
    std::vector<PiecedRows::Piece> pieces;
    for (const auto& piece : in_file.pieces) {
      samples += piece.rows;
      const bool is_part_of_dataset = piece.kind == H5Piece::Kind::chunks || piece.kind == H5Piece::Kind::library;
      pieces.push_back({piece.rows, is_part_of_dataset ? piece.first : 0, open_piece(piece, field)});
    }
    auto rows = std::make_unique<PiecedRows>(row_bytes, std::move(pieces));
    if (!keep_ || rows->is_resident()) return rows;
    return std::make_unique<KeptRows>(*rows, samples, row_bytes);
  }

 private:
  static RowLayout place_of(const H5Piece& piece, std::size_t row_bytes) {
    return {piece.first, piece.rows, row_bytes, piece.swapped};
  }

  std::shared_ptr<const Rows> open_piece(const H5Piece& piece, const Dataset::Field& field) {
    const auto row_bytes = sample_bytes(field);
    switch (piece.kind) {
      case H5Piece::Kind::file:
        return std::make_shared<FileRows>(files_, piece.in, place_of(piece, row_bytes));
      case H5Piece::Kind::chunks:
        return open_chunks(piece.in);
      case H5Piece::Kind::library:
        return std::make_shared<LibraryRows>(index_.files.at(piece.in).path, piece.dataset, field);
      case H5Piece::Kind::kept:
        return std::make_shared<KeptRows>(piece.values, row_bytes);
      case H5Piece::Kind::missing:
        break;
    }
    return std::make_shared<MissingRows>(piece.values, row_bytes);
  }

  /// Returns a reader of table number `number`. All pieces of the same table share one reader.
  std::shared_ptr<const Rows> open_chunks(std::size_t number) {
    auto& rows = chunked_[number];
    const auto& table = index_.tables.at(number);
    if (!rows) rows = std::make_shared<ChunkedRows>(table, number, files_, index_.files.at(table.file).path, cache_);
    return rows;
  }

  const H5Index& index_;
  bool keep_;
  std::shared_ptr<const OpenFileCache> files_;
  std::shared_ptr<ChunkCacheShare> cache_;
  std::map<std::size_t, std::shared_ptr<const Rows>> chunked_;  // rows by the number of their table
};

}  // namespace

std::vector<std::unique_ptr<Rows>> open_h5_rows(const H5Index& index, const std::vector<Dataset::Field>& fields,
                                                std::uint64_t cache_bytes, bool keep) {
  FieldOpener opener(index, cache_bytes, keep);
  std::vector<std::unique_ptr<Rows>> rows;
  for (std::size_t i = 0; i < index.fields.size(); ++i) rows.push_back(opener.open(index.fields[i], fields.at(i)));
  return rows;
}

}  // namespace trainrt::data
