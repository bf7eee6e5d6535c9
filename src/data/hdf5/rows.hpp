#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// Rows of one size, by their numbers. Any threads may read at once.
class Rows {
 public:
  virtual ~Rows() = default;
  /// The rows with these numbers, one after another; `out` has room for all. Throws Error that names file and reason.
  virtual void read(std::span<const std::uint64_t> rows, std::byte* out) const = 0;
  virtual bool is_resident() const { return false; }  ///< all are in memory
};

}  // namespace trainrt::data
