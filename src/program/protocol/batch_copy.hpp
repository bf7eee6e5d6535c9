#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::program {

/// Copies the fields of one batch into one contiguous block of memory. For each field, the block contains the values of
/// all samples. If the field varies in length, one u64 for each sample follows the values: the number of elements up to
/// the end of the sample.
class BatchCopy {
 public:
  static constexpr std::size_t alignment = 64;

  struct FieldOffsets {
    std::size_t at = 0;       ///< byte offset of the values
    std::size_t values = 0;   ///< number of elements of the field
    std::size_t ends_at = 0;  ///< byte offset of the u64 ends of the samples; used for a field of variable length
  };

  /// Computes the offsets of all fields. `batch` must outlive this object, and its iterator must not advance before the
  /// last call of write().
  BatchCopy(const Batch& batch, std::span<const Dataset::Field> fields);
  std::size_t bytes() const { return bytes_; }
  const std::vector<FieldOffsets>& offsets() const { return offsets_; }
  /// Copies the batch to `memory`, which must have at least bytes() bytes.
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
