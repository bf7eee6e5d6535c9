#include "data/records/record_index.hpp"

#include <algorithm>

namespace trainrt::data {

void RecordIndex::note(const Entry& entry) {
  if (entries_.size() >= max_entries) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries_.size(); i += 2) entries_[kept++] = entries_[i];
    entries_.resize(kept);
    spacing_ *= 2;
  }
  entries_.push_back(entry);
  next_ = entry.offset + spacing_;
}

std::size_t RecordIndex::span_of(std::uint64_t record) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end() - 1, record,
                                      [](std::uint64_t wanted, const Entry& entry) { return wanted < entry.record; });
  return static_cast<std::size_t>(after - entries_.begin()) - 1;
}

void RecordIndex::pack(PackedWriter& into) const {
  into.number(entries_.size());
  Entry last;
  for (const auto& entry : entries_) {
    into.number(entry.record - last.record);
    into.number((entry.row - entry.record) - (last.row - last.record));
    into.number(entry.offset - last.offset);
    last = entry;
  }
}

void RecordIndex::unpack(PackedReader& from) {
  entries_.resize(std::max<std::size_t>(from.count(), 1));
  Entry last;
  for (auto& entry : entries_) {
    const auto records = from.number(), other_rows = from.number(), bytes = from.number();
    entry = last = {last.record + records, last.row + records + other_rows, last.offset + bytes};
  }
}

}  // namespace trainrt::data
