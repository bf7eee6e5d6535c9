#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// Where the records of a text file begin: not of each, but of one in each so many bytes. Records between are found by
/// reading from there on.
class RecordIndex {
 public:
  struct Entry {
    std::uint64_t record = 0;  ///< counted from 0
    std::uint64_t row = 0;     ///< of the file, counted from 0: there are rows that are no records
    std::uint64_t offset = 0;  ///< of its first byte
  };
  static constexpr std::uint64_t usual_spacing = 32 << 10;
  static constexpr std::size_t most_entries = std::size_t{1} << 20;  ///< of a larger file fewer are noted, further apart

  explicit RecordIndex(std::uint64_t spacing = usual_spacing) : spacing_(spacing) {}
  /// Takes every record in its order, and notes some; in the end, what comes behind the last one.
  void add(const Entry& entry) {
    if (entry.offset >= next_) note(entry);
  }
  void close(const Entry& end) { entries_.push_back(end); }

  std::uint64_t records() const { return entries_.back().record; }
  /// Records lie in spans: from an entry up to the next. Of a record below records().
  std::size_t span_of(std::uint64_t record) const;
  const Entry& begin_of(std::size_t span) const { return entries_[span]; }
  const Entry& end_of(std::size_t span) const { return entries_[span + 1]; }

  void pack(PackedWriter& into) const;
  static RecordIndex unpacked(PackedReader& from);

 private:
  void note(const Entry& entry);

  std::uint64_t spacing_;
  std::uint64_t next_ = 0;
  std::vector<Entry> entries_;  ///< the last one is the end
};

}  // namespace trainrt::data
