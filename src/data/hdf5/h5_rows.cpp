#include "data/hdf5/h5_rows.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/bytes/open_file_cache.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/hdf5/chunked_rows.hpp"
#include "data/hdf5/pieced_rows.hpp"
#include "data/source/row_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

namespace {

/// How many of the rows from `at` on are neighbours.
std::size_t neighbours(std::span<const std::uint64_t> rows, std::size_t at) {
  std::size_t count = 1;
  while (at + count < rows.size() && rows[at + count] == rows[at] + count) ++count;
  return count;
}

/// A contiguous dataset that is the whole field.
class WholeRows final : public Rows {
 public:
  WholeRows(const DataFile& file, const RowLayout& place, bool keep)
      : rows_(std::make_shared<InputFile>(file), place, keep) {}
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override { rows_.read(rows, out); }
  bool is_resident() const override { return rows_.is_resident(); }

 private:
  RowFile rows_;
};

/// A piece of a field in one of many files: none of it is kept.
class PlacedRows final : public Rows {
 public:
  PlacedRows(std::shared_ptr<const OpenFileCache> files, std::size_t file, const RowLayout& place)
      : files_(std::move(files)), file_(file), place_(place) {}
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    read_rows(*files_->get(file_), place_, rows, out);
  }

 private:
  std::shared_ptr<const OpenFileCache> files_;
  std::size_t file_;
  RowLayout place_;
};

/// What HDF5 itself must read.
class LibraryRows final : public Rows {
 public:
  LibraryRows(const std::string& path, const H5Piece& piece, const Dataset::Field& field)
      : reader_(path, piece.dataset, field.dtype), row_(field.sample_shape), row_bytes_(sample_bytes(field)) {
    row_.insert(row_.begin(), 1);
  }
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    const InStage reading(Stage::storage);
    Shape start(row_.size()), count = row_;
    for (std::size_t at = 0; at < rows.size();) {
      start.front() = static_cast<std::int64_t>(rows[at]);
      count.front() = static_cast<std::int64_t>(neighbours(rows, at));
      reader_.read(start, count, out);
      at += static_cast<std::size_t>(count.front());
      out += static_cast<std::size_t>(count.front()) * row_bytes_;
    }
  }

 private:
  io::H5Reader reader_;
  Shape row_;
  std::size_t row_bytes_;
};

class KeptRows final : public Rows {
 public:
  KeptRows(std::string values, std::size_t row_bytes) : values_(std::move(values)), row_bytes_(row_bytes) {}
  /// All rows that `from` has.
  KeptRows(const Rows& from, std::uint64_t rows, std::size_t row_bytes)
      : values_(rows * row_bytes, '\0'), row_bytes_(row_bytes) {
    constexpr std::uint64_t at_once = 4096;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t first = 0; first < rows; first += numbers.size()) {
      numbers.resize(std::min(at_once, rows - first));
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

/// What was never written.
class MissingRows final : public Rows {
 public:
  MissingRows(std::string fill, std::size_t row_bytes) : fill_(std::move(fill)), row_bytes_(row_bytes) {}
  void read(std::span<const std::uint64_t> rows, std::byte* out) const override {
    const auto bytes = rows.size() * row_bytes_;
    for (std::size_t at = 0; at < bytes; at += fill_.size()) std::memcpy(out + at, fill_.data(), fill_.size());
  }
  bool is_resident() const override { return true; }

 private:
  std::string fill_;
  std::size_t row_bytes_;
};

/// Makes the rows of one file's fields.
class RowsOfFile {
 public:
  RowsOfFile(const H5Index& index, std::uint64_t cache_bytes, bool keep)
      : index_(index),
        keep_(keep),
        files_(std::make_shared<OpenFileCache>(index.files)),
        cache_(std::make_shared<ChunkCacheShare>(cache_bytes)) {}

  std::unique_ptr<Rows> of_field(const H5Field& in_file, const Dataset::Field& field) {
    const auto row_bytes = sample_bytes(field);
    require_memory(row_bytes, fmt::format("a sample of dataset '{}' of '{}'", in_file.name, index_.files.front().path));
    if (in_file.pieces.size() == 1 && in_file.pieces[0].kind == H5Piece::Kind::file) {
      const auto& piece = in_file.pieces[0];
      return std::make_unique<WholeRows>(index_.files.at(piece.in), place_of(piece, row_bytes), keep_);
    }
    std::uint64_t samples = 0;
    std::vector<PiecedRows::Piece> pieces;
    for (const auto& piece : in_file.pieces) {
      samples += piece.rows;
      const bool begins_there = piece.kind == H5Piece::Kind::chunks || piece.kind == H5Piece::Kind::library;
      pieces.push_back({piece.rows, begins_there ? piece.first : 0, of_piece(piece, field)});
    }
    auto rows = std::make_unique<PiecedRows>(row_bytes, std::move(pieces));
    if (!keep_ || rows->is_resident()) return rows;
    return std::make_unique<KeptRows>(*rows, samples, row_bytes);
  }

 private:
  static RowLayout place_of(const H5Piece& piece, std::size_t row_bytes) {
    return {piece.first, piece.rows, row_bytes, piece.swapped};
  }

  std::shared_ptr<const Rows> of_piece(const H5Piece& piece, const Dataset::Field& field) {
    const auto row_bytes = sample_bytes(field);
    switch (piece.kind) {
      case H5Piece::Kind::file:
        return std::make_shared<PlacedRows>(files_, piece.in, place_of(piece, row_bytes));
      case H5Piece::Kind::chunks:
        return chunked(piece.in);
      case H5Piece::Kind::library:
        return std::make_shared<LibraryRows>(index_.files.at(piece.in).path, piece, field);
      case H5Piece::Kind::kept:
        return std::make_shared<KeptRows>(piece.values, row_bytes);
      case H5Piece::Kind::missing:
        break;
    }
    return std::make_shared<MissingRows>(piece.values, row_bytes);
  }

  /// Several pieces may lie in the same table.
  std::shared_ptr<const Rows> chunked(std::size_t number) {
    auto& rows = chunked_[number];
    const auto& table = index_.tables.at(number);
    if (!rows) rows = std::make_shared<ChunkedRows>(table, number, files_, index_.files.at(table.file).path, cache_);
    return rows;
  }

  const H5Index& index_;
  bool keep_;
  std::shared_ptr<const OpenFileCache> files_;
  std::shared_ptr<ChunkCacheShare> cache_;
  std::map<std::size_t, std::shared_ptr<const Rows>> chunked_;  // by their tables
};

}  // namespace

std::vector<std::unique_ptr<Rows>> open_h5_rows(const H5Index& index, const std::vector<Dataset::Field>& fields,
                                                std::uint64_t cache_bytes, bool keep) {
  RowsOfFile file(index, cache_bytes, keep);
  std::vector<std::unique_ptr<Rows>> rows;
  for (std::size_t i = 0; i < index.fields.size(); ++i) rows.push_back(file.of_field(index.fields[i], fields.at(i)));
  return rows;
}

}  // namespace trainrt::data
