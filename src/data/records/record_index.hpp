#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// The positions of some records of a text file, about one per `spacing` bytes. The records from one stored position to
/// the next form a span. To find a record, a reader reads the file from the beginning of the record's span.
class RecordIndex {
 public:
  struct Entry {
    std::uint64_t record = 0;  ///< index of the record, from 0
    std::uint64_t row = 0;     ///< index of the record's row, from 0; not all rows are records
    std::uint64_t offset = 0;  ///< offset of the record's first byte in the file
  };
  static constexpr std::uint64_t default_spacing = 32 << 10;  ///< bytes
  static constexpr std::size_t max_entries = std::size_t{1}
                                             << 20;  ///< maximum number of entries; the spacing grows in larger files

  explicit RecordIndex(std::uint64_t spacing = default_spacing) : spacing_(spacing) {}
  /// Adds the next record, whose position is stored only if it begins a new span. Must be called for every record, in the
  /// order of the file.
  void add(const Entry& entry) {
    if (entry.offset >= next_) note(entry);
  }
  /// Completes the index. `end` has the number of records, the number of rows, and the offset after the last record.
  void close(const Entry& end) { entries_.push_back(end); }

  std::uint64_t records() const { return entries_.back().record; }  ///< number of records
  /// Returns the number of the span that contains `record`, which must be below records().
  std::size_t span_of(std::uint64_t record) const;
  const Entry& begin_of(std::size_t span) const { return entries_[span]; }
  const Entry& end_of(std::size_t span) const { return entries_[span + 1]; }

  void pack(PackedWriter& into) const;
  void unpack(PackedReader& from);

 private:
  void note(const Entry& entry);

  std::uint64_t spacing_;
  std::uint64_t next_ = 0;      ///< the next record at or after this offset is stored
  std::vector<Entry> entries_;  ///< the last entry is the end
};

}  // namespace trainrt::data
