#include "data/tables/arrow/arrow_arrays.hpp"

#include <limits>
#include <map>
#include <utility>

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include "data/tables/arrow/arrow_input.hpp"
#include "data/tables/arrow/column_values.hpp"
#include "data/tables/arrow/number_conversion.hpp"

namespace trainrt::data::arrow_module {

namespace {

std::shared_ptr<arrow::DataType> number_type(const Dataset::Field& field) {
  static const std::map<DType, std::shared_ptr<arrow::DataType>> types{
      {DType::f64, arrow::float64()}, {DType::f32, arrow::float32()}, {DType::f16, arrow::float16()},
      {DType::i64, arrow::int64()},   {DType::i32, arrow::int32()},   {DType::i16, arrow::int16()},
      {DType::i8, arrow::int8()},     {DType::u8, arrow::uint8()},    {DType::boolean, arrow::boolean()}};
  const auto type = types.find(field.dtype);
  if (type == types.end())
    throw UsageError(
        fmt::format("Arrow does not support the type of '{}': choose other fields with --columns", field.name));
  return type->second;
}

bool is_text(const Dataset::Field& field) { return field.varies && field.dtype == DType::u8; }

std::shared_ptr<arrow::Field> element_of(const Dataset::Field& field) {
  return arrow::field("element", number_type(field), false);
}

std::shared_ptr<arrow::DataType> type_of(const Dataset::Field& field) {
  if (is_text(field)) return arrow::utf8();
  if (field.varies) return arrow::list(element_of(field));
  if (field.sample_shape.empty()) return number_type(field);
  const auto values = values_of_shape(field.sample_shape);
  if (values <= 0 || values > std::numeric_limits<std::int32_t>::max())
    throw UsageError(
        fmt::format("the samples of '{}' have {} values; a vector of Arrow must have 1 to 2^31 - 1", field.name, values));
  if (field.sample_shape.size() > 1) return arrow::extension::fixed_shape_tensor(number_type(field), field.sample_shape);
  return arrow::fixed_size_list(element_of(field), static_cast<std::int32_t>(values));
}

std::shared_ptr<arrow::Buffer> view_of(const std::vector<std::byte>& bytes) {
  return std::make_shared<arrow::Buffer>(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                         static_cast<std::int64_t>(bytes.size()));
}

/// Packs bools into bits, as Arrow stores them.
std::shared_ptr<arrow::Buffer> bits_of(const std::vector<std::byte>& flags) {
  auto bits = value_of(arrow::AllocateEmptyBitmap(static_cast<std::int64_t>(flags.size())));
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != std::byte{0}) arrow::bit_util::SetBit(bits->mutable_data(), static_cast<std::int64_t>(i));
  return bits;
}

std::shared_ptr<arrow::Array> numbers_of(const Dataset::Field& field, const Column& column) {
  const auto count = static_cast<std::int64_t>(column.values.size() / value_bytes(field.dtype));
  auto values = field.dtype == DType::boolean ? bits_of(column.values) : view_of(column.values);
  return arrow::MakeArray(arrow::ArrayData::Make(number_type(field), count, {nullptr, std::move(values)}, 0));
}

/// Returns the array of offsets that Arrow needs for `count` samples of different lengths: `count` + 1 numbers, the last
/// one for the end of the last sample. The unit is a value of `bytes` bytes.
std::shared_ptr<arrow::Buffer> offsets_of(const Dataset::Field& field, const Column& column, std::size_t bytes,
                                          std::uint64_t count) {
  if (column.values.size() / bytes > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw UsageError(
        fmt::format("{} samples of '{}' have more than 2^31 values, the maximum of a block of Arrow: write a .jsonl file",
                    count, field.name));
  auto offsets = value_of(arrow::AllocateBuffer(static_cast<std::int64_t>((count + 1) * sizeof(std::int32_t))));
  auto* const out = offsets->mutable_data_as<std::int32_t>();
  out[0] = 0;
  for (std::uint64_t i = 0; i < count; ++i) out[i + 1] = static_cast<std::int32_t>(column.ends[i] / bytes);
  return offsets;
}

void require_texts(const Dataset::Field& field, const Column& column, std::uint64_t first, std::uint64_t count) {
  arrow::util::InitializeUTF8();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(column.values.data());
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto begin = i == 0 ? 0 : column.ends[i - 1];
    if (!arrow::util::ValidateUTF8(bytes + begin, static_cast<std::int64_t>(column.ends[i] - begin)))
      throw UsageError(
          fmt::format("row {}: the text of '{}' is not UTF-8: choose other fields with --columns", first + i, field.name));
  }
}

}  // namespace

std::shared_ptr<arrow::Field> arrow_field(const Dataset::Field& field) {
  return arrow::field(field.name, type_of(field), false);
}

std::shared_ptr<arrow::Array> arrow_array(const Dataset::Field& field, const Column& column, std::uint64_t first,
                                          std::uint64_t count) {
  auto type = type_of(field);
  const auto rows = static_cast<std::int64_t>(count);
  if (is_text(field)) {
    require_texts(field, column, first, count);
    return arrow::MakeArray(
        arrow::ArrayData::Make(type, rows, {nullptr, offsets_of(field, column, 1, count), view_of(column.values)}, 0));
  }
  auto numbers = numbers_of(field, column);
  if (field.varies) {
    auto offsets = offsets_of(field, column, value_bytes(field.dtype), count);
    return arrow::MakeArray(arrow::ArrayData::Make(type, rows, {nullptr, std::move(offsets)}, {numbers->data()}, 0));
  }
  if (field.sample_shape.empty()) return numbers;
  return arrow::MakeArray(arrow::ArrayData::Make(type, rows, {nullptr}, {numbers->data()}, 0));
}

}  // namespace trainrt::data::arrow_module
