#pragma once
#include <cstdint>
#include <vector>

#include "data/bytes/open_file_cache.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Concatenates several sources with the same fields, such as the files of a dataset. Each of these sources, called a
/// part, is opened at its first read. Unless `keep` is set, at most `max_open` parts are open at the same time.
class ConcatenatedSource final : public Source {
 public:
  using Open = OpenCache<Source>::Open;
  static constexpr std::size_t max_open = 64;

  /// `sizes` are the numbers of samples of the parts. `keep`: the parts keep all values in memory, so they are never
  /// closed.
  ConcatenatedSource(std::vector<Dataset::Field> fields, const std::vector<std::uint64_t>& sizes, Open open, bool keep);
  std::uint64_t size() const override { return ends_.back(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  /// Returns whether all parts are open and have their values in memory.
  bool is_resident() const override;
  /// Closes all parts. Each part is opened again at its next read.
  void close() const { parts_.close(); }

 private:
  std::size_t part_of(std::uint64_t sample) const;
  std::uint64_t begin_of(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }

  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;  ///< for each part, the number of samples up to the end of the part
  bool keep_;
  OpenCache<Source> parts_;
};

}  // namespace trainrt::data
