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

/// A record as it stands in its file, without its line break. 64 bytes behind it can be read; the first is no part of it.
struct Record {
  std::string_view text;
  std::uint64_t row = 0;  ///< counted from 0
};

/// The records of a text file that was scanned, by their numbers. Any threads may read at once.
class RecordFile {
 public:
  using Take = std::function<void(const Record& record, std::size_t place)>;

  RecordFile(std::shared_ptr<const InputFile> file, RecordIndex index, bool quotes, bool skip_empty)
      : file_(std::move(file)), index_(std::move(index)), quotes_(quotes), skip_empty_(skip_empty) {}
  const std::string& path() const { return file_->path(); }
  std::uint64_t size() const { return index_.records(); }
  /// Up to `most` records, as many as begin in the first `bytes` of the file; at least one span of the index.
  std::uint64_t records_within(std::uint64_t most, std::uint64_t bytes) const;

  /// Hands over the records with these numbers, which ascend, and each one's place among them. What lies together is read
  /// in one piece. Throws Error if the file is not what it was.
  void read(std::span<const std::uint64_t> ascending, const Take& take) const;
  /// All of them up to `count`, in pieces.
  void read_first(std::uint64_t count, const Take& take) const;

 private:
  struct Piece {
    RecordIndex::Entry begin;
    std::uint64_t end = 0;    ///< offset
    std::size_t records = 0;  ///< of those asked for
  };
  Piece piece_of(std::span<const std::uint64_t> ascending) const;
  RecordIndex::Entry walk(const Piece& piece, std::string_view text, std::span<const std::uint64_t> wanted,
                          std::size_t place, const Take& take) const;
  RecordIndex::Entry nearest_begin(std::uint64_t record) const;
  void note(const RecordIndex::Entry& end) const;

  std::shared_ptr<const InputFile> file_;
  RecordIndex index_;
  bool quotes_, skip_empty_;
  /// Where the last readings ended: whoever reads on from there need not search for the place.
  mutable std::mutex mutex_;
  mutable std::array<RecordIndex::Entry, 16> recent_{};
  mutable std::size_t next_recent_ = 0;
};

}  // namespace trainrt::data
