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

/// The samples looked at lie at some places of the part, as files may be in the order of their lengths. Short lists do not
/// fill the bytes: a few thousand at once are as fast.
std::size_t rows_of_lists(const Dataset& data, const Part& part, const std::string& field, std::size_t bytes,
                          std::size_t value_bytes) {
  constexpr std::uint64_t places = 4;
  constexpr std::size_t rows_of_place = 16, fewest = 16, most = 4096;
  std::size_t rows = 0, values = 0;
  for (std::uint64_t place = 0; place < places; ++place) {
    const auto begin = part.count * place / places, end = part.count * (place + 1) / places;
    const auto count = std::min<std::uint64_t>(end - begin, rows_of_place);
    for (const auto& batch : data.epoch(0).range(part.first + begin, count, rows_of_place)) {
      const RowLists lists(data, batch, field);
      for (std::size_t i = 0; i < batch.size(); ++i) values += static_cast<std::size_t>(lists.of(i).shape[0]);
      rows += batch.size();
    }
  }
  const auto all_bytes = std::max<std::size_t>(1, values * value_bytes);
  return std::clamp(bytes * rows / all_bytes, fewest, most);
}

void refuse_column(const ColumnPlace& place, const std::string& value) {
  throw UsageError(
      fmt::format("[data.{}] field '{}' of sample {} holds {}, and a column is a whole number from 0 on below {}, {}",
                  place.set, place.field, place.sample, value, place.columns, place.limit));
}

}  // namespace trainrt::frameworks::trees
