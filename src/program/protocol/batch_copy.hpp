#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::program {

/// Layout of the fields of one batch in a contiguous memory, and the copy into it. Each field has its values; a field of
/// variable length is followed by the end of each sample's values, as a u64 number of elements.
class BatchCopy {
 public:
  static constexpr std::size_t alignment = 64;

  struct FieldOffsets {
    std::size_t at = 0;       ///< first byte of the values
    std::size_t values = 0;   ///< number of elements
    std::size_t ends_at = 0;  ///< first byte of the ends, for a field of variable length
  };

  /// Computes the layout. The batch must outlive this object and stay the current one of its iterator.
  BatchCopy(const Batch& batch, std::span<const Dataset::Field> fields);
  std::size_t bytes() const { return bytes_; }
  const std::vector<FieldOffsets>& offsets() const { return offsets_; }
  /// Copies the batch to `memory`, which must have room for bytes().
  void write(std::byte* memory) const;

 private:
  std::size_t take(std::size_t bytes);
  FieldOffsets offsets_of(const Dataset::Field& field);
  void write_varying(std::size_t number, std::byte* memory) const;

  const Batch& batch_;
  std::span<const Dataset::Field> fields_;
  std::vector<FieldOffsets> offsets_;
  std::size_t bytes_ = 0;
};

}  // namespace trainrt::program
