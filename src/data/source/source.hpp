#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// The values of one field of some samples, one sample after another.
struct Column {
  std::size_t field = 0;
  std::vector<std::byte> values;
  std::vector<std::uint64_t> ends;  ///< of a field that varies in length: where each sample's bytes end in `values`
};

/// Bytes of one sample of a field that does not vary in length.
inline std::size_t sample_bytes(const Dataset::Field& field) {
  return static_cast<std::size_t>(element_count(field.sample_shape)) * size_of(field.dtype);
}

/// Random access to samples by their numbers. Nothing changes after opening: any threads may read at once.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::vector<Dataset::Field>& fields() const = 0;
  /// Fills each column with its field of the samples with these numbers, in this order; what it held is replaced. Throws
  /// Error that names file, place and reason if they cannot be read.
  virtual void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const = 0;
  /// All values are in memory: reading is no more than copying, and nothing is gained by reading ahead.
  virtual bool is_resident() const { return false; }
};

}  // namespace trainrt::data
