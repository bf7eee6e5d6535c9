#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// Random access to the rows of a field by their numbers. All rows have the same size. Thread-safe.
class Rows {
 public:
  virtual ~Rows() = default;
  /// Writes the rows with these numbers, one after another, to `out`. Throws Error, with the file and the reason.
  virtual void read(std::span<const std::uint64_t> rows, std::byte* out) const = 0;
  virtual bool is_resident() const { return false; }  ///< whether all rows are in memory
};

}  // namespace trainrt::data
