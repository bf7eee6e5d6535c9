#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "data/bytes/input_file.hpp"
#include "data/records/record_index.hpp"
#include "data/records/row_scan.hpp"

namespace trainrt::data {

/// A record, without its line break. The 64 bytes after it are readable.
struct Record {
  std::string_view text;
  std::uint64_t row = 0;  ///< counted from 0
};

/// Random access to the records of a text file by index. Thread-safe.
class RecordFile {
 public:
  /// Receives a requested record. `index` is its position in the request.
  using Take = std::function<void(const Record& record, std::size_t index)>;

  /// `index` must be the result of scan_rows() for the same file, with the same `quotes` and `skip_empty`.
  RecordFile(std::shared_ptr<const InputFile> file, RecordIndex index, bool quotes, bool skip_empty)
      : file_(std::move(file)), index_(std::move(index)), quotes_(quotes), skip_empty_(skip_empty) {}
  const std::string& path() const { return file_->path(); }
  std::uint64_t size() const { return index_.records(); }  ///< number of records
  /// Returns about how many records begin in the first `bytes` bytes of the file, at most `max`. The number includes all
  /// records of the span of the index that contains the last of these bytes.
  std::uint64_t records_within(std::uint64_t max, std::uint64_t bytes) const;

  /// Passes the records with the indices in `ascending` to `take`. Neighbouring records are read together. Throws Error
  /// if the file was changed.
  void read(std::span<const std::uint64_t> ascending, const Take& take) const;
  /// Passes the first `count` records to `take`.
  void read_first(std::uint64_t count, const Take& take) const;

 private:
  /// A byte range of the file that is read at once.
  struct Piece {
    RecordIndex::Entry begin;
    std::uint64_t end = 0;    ///< offset at which the range ends
    std::size_t records = 0;  ///< number of requested records in the range
  };
  Piece piece_of(std::span<const std::uint64_t> ascending) const;
  RecordIndex::Entry walk(const Piece& piece, std::string_view text, std::span<const std::uint64_t> wanted,
                          std::size_t first_index, const Take& take) const;
  RecordIndex::Entry nearest_begin(std::uint64_t record) const;
  void note(const RecordIndex::Entry& end) const;

  std::shared_ptr<const InputFile> file_;
  RecordIndex index_;
  bool quotes_, skip_empty_;
  mutable std::mutex mutex_;
  mutable std::array<RecordIndex::Entry, 16> recent_{};  ///< ends of recent reads, from which the next reads can continue
  mutable std::size_t next_recent_ = 0;
};

}  // namespace trainrt::data
