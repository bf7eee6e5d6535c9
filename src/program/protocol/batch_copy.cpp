#include "program/protocol/batch_copy.hpp"

#include <cstring>

namespace trainrt::program {

BatchCopy::BatchCopy(const Batch& batch, std::span<const Dataset::Field> fields) : batch_(batch), fields_(fields) {
  for (const auto& field : fields_) offsets_.push_back(offsets_of(field));
}

/// Reserves `bytes` bytes in the layout of the batch, rounded up to the alignment, and returns their offset.
std::size_t BatchCopy::take(std::size_t bytes) {
  const auto at = bytes_;
  bytes_ = (at + bytes + alignment - 1) / alignment * alignment;
  return at;
}

BatchCopy::FieldOffsets BatchCopy::offsets_of(const Dataset::Field& field) {
  FieldOffsets offsets;
  if (!field.varies) {
    const auto view = batch_.field(field.name);
    offsets.values = view.bytes() / size_of(field.dtype);
    offsets.at = take(view.bytes());
    return offsets;
  }
  for (std::size_t sample = 0; sample < batch_.size(); ++sample)
    offsets.values += batch_.varying(field.name, sample).bytes() / size_of(field.dtype);
  offsets.at = take(offsets.values * size_of(field.dtype));
  offsets.ends_at = take(batch_.size() * sizeof(std::uint64_t));
  return offsets;
}

void BatchCopy::write(std::byte* memory) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].varies) {
      write_varying(i, memory);
      continue;
    }
    const auto view = batch_.field(fields_[i].name);
    if (view.bytes() > 0) std::memcpy(memory + offsets_[i].at, view.data, view.bytes());
  }
}

void BatchCopy::write_varying(std::size_t number, std::byte* memory) const {
  const auto& field = fields_[number];
  auto* values = memory + offsets_[number].at;
  auto* ends = memory + offsets_[number].ends_at;
  std::uint64_t end = 0;
  for (std::size_t sample = 0; sample < batch_.size(); ++sample) {
    const auto view = batch_.varying(field.name, sample);
    if (view.bytes() > 0) std::memcpy(values, view.data, view.bytes());
    values += view.bytes();
    end += view.bytes() / size_of(field.dtype);
    std::memcpy(ends, &end, sizeof end);
    ends += sizeof end;
  }
}

}  // namespace trainrt::program
