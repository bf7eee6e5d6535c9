#include "frameworks/trees/row_lists.hpp"

#include <algorithm>

#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

RowLists::RowLists(const Dataset& data, const Batch& batch, const std::string& field) : batch_(batch), field_(field) {
  const auto found = std::ranges::find(data.fields(), field, &Dataset::Field::name);
  varies_ = found == data.fields().end() || found->varies;
  if (!varies_) all_ = batch.field(field);
}

TensorView RowLists::of(std::size_t row) const {
  if (varies_) return batch_.varying(field_, row);
  const auto length = all_.shape.back();
  const auto offset = row * static_cast<std::size_t>(length) * size_of(all_.dtype);
  return {static_cast<std::byte*>(all_.data) + offset, all_.dtype, {length}};
}

/// Estimates from samples at several positions of the dataset, since a file may be sorted by the lengths of the lists.
/// Limits the result to a few thousand samples, because larger blocks of short lists are not faster.
std::size_t rows_of_lists(const Dataset& data, const SampleRange& part, const std::string& field, std::size_t bytes,
                          std::size_t value_bytes) {
  constexpr std::uint64_t positions = 4;
  constexpr std::size_t rows_per_position = 16, min_rows = 16, max_rows = 4096;
  std::size_t rows = 0, values = 0;
  for (std::uint64_t i = 0; i < positions; ++i) {
    const auto begin = part.count * i / positions, end = part.count * (i + 1) / positions;
    const auto count = std::min<std::uint64_t>(end - begin, rows_per_position);
    for (const auto& batch : data.epoch(0).range(part.first + begin, count, rows_per_position)) {
      const RowLists lists(data, batch, field);
      for (std::size_t row = 0; row < batch.size(); ++row) values += static_cast<std::size_t>(lists.of(row).shape[0]);
      rows += batch.size();
    }
  }
  const auto all_bytes = std::max<std::size_t>(1, values * value_bytes);
  return std::clamp(bytes * rows / all_bytes, min_rows, max_rows);
}

void refuse_column(const ColumnSource& source, const std::string& value) {
  throw UsageError(fmt::format(
      "[data.{}] field '{}' of sample {} holds {}, but a column number must be an integer of at least 0 and below {}, {}",
      source.set, source.field, source.sample, value, source.columns, source.limit));
}

}  // namespace trainrt::frameworks::trees
