#include "data/reshape/missing_values.hpp"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

/// A quiet NaN, least significant byte first as all values in memory; 0: the type has none.
std::uint64_t nan_bits(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x7ff8000000000000;
    case DType::f32:
      return 0x7fc00000;
    case DType::f16:
      return 0x7e00;
    case DType::bf16:
      return 0x7fc0;
    case DType::f8e4m3:
    case DType::f8e5m2:
      return 0x7f;
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      break;
  }
  return 0;
}

/// A text or list that is missing begins and ends where the one before it ends.
void fill_ends(std::span<const std::uint64_t> places, std::vector<std::uint64_t>& ends) {
  std::vector<std::uint64_t> all;
  all.reserve(places.size());
  std::size_t at = 0;
  for (const auto place : places) {
    if (place != no_sample)
      all.push_back(ends[at++]);
    else
      all.push_back(all.empty() ? 0 : all.back());
  }
  ends = std::move(all);
}

}  // namespace

void require_missing_value(const Dataset::Field& field, const std::string& where) {
  if (field.varies || nan_bits(field.dtype) != 0) return;
  throw UsageError(fmt::format(
      "{}: its field '{}' is {}, which has no value for samples without one: cast it to a float there, choose its "
      "fields without it, or let an inner join leave such samples out",
      where, field.name, name_of(field.dtype)));
}

void fill_missing(const Dataset::Field& field, std::span<const std::uint64_t> places, Column& column) {
  if (field.varies) return fill_ends(places, column.ends);
  const auto width = size_of(field.dtype), bytes = sample_bytes(field);
  const auto bits = nan_bits(field.dtype);
  std::vector<std::byte> missing(bytes);
  for (std::size_t at = 0; at < bytes; at += width) std::memcpy(missing.data() + at, &bits, width);
  std::vector<std::byte> all(places.size() * bytes);
  const auto* from = column.values.data();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_there = places[i] != no_sample;
    std::memcpy(all.data() + i * bytes, is_there ? from : missing.data(), bytes);
    if (is_there) from += bytes;
  }
  column.values = std::move(all);
}

}  // namespace trainrt::data
