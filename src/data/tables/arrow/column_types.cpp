#include <algorithm>
#include <map>

#include <arrow/extension/fixed_shape_tensor.h>

#include "data/tables/arrow/column_values.hpp"

namespace trainrt::data::arrow_module {

namespace {

constexpr const char* no_nested = "nested values are not supported: write each part of the values as a separate column";
constexpr const char* no_decimals = "decimals are not supported: write the column as float64 or as integers";

/// Maps each Arrow type with one number or boolean per value to the DType of these values.
const std::map<arrow::Type::type, DType> number_types{
    {arrow::Type::BOOL, DType::boolean},   {arrow::Type::INT8, DType::i8},    {arrow::Type::UINT8, DType::u8},
    {arrow::Type::INT16, DType::i16},      {arrow::Type::UINT16, DType::i32}, {arrow::Type::INT32, DType::i32},
    {arrow::Type::UINT32, DType::i64},     {arrow::Type::INT64, DType::i64},  {arrow::Type::UINT64, DType::i64},
    {arrow::Type::HALF_FLOAT, DType::f16}, {arrow::Type::FLOAT, DType::f32},  {arrow::Type::DOUBLE, DType::f64}};

std::string unit_of(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return "seconds";
    case arrow::TimeUnit::MILLI:
      return "milliseconds";
    case arrow::TimeUnit::MICRO:
      return "microseconds";
    default:
      return "nanoseconds";
  }
}

/// Returns the unit of the values of a date, time or duration type, such as "seconds since midnight". Returns "" for
/// other types.
std::string time_unit_of(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::DATE32:
      return "days since 1970-01-01";
    case arrow::Type::DATE64:
      return "milliseconds since 1970-01-01";
    case arrow::Type::TIMESTAMP:
      return unit_of(static_cast<const arrow::TimestampType&>(type).unit()) + " since 1970-01-01";
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return unit_of(static_cast<const arrow::TimeType&>(type).unit()) + " since midnight";
    case arrow::Type::DURATION:
      return unit_of(static_cast<const arrow::DurationType&>(type).unit());
    default:
      return "";
  }
}

void describe(const arrow::DataType& type, TableColumn& column);

/// Sets the members of `column` that the type of the elements of a list or vector determines.
void describe_elements(const arrow::DataType& element, TableColumn& column) {
  describe(element, column);
  if (column.varies || column.is_text || !column.meaning.empty()) column.unreadable = no_nested;
}

/// Sets the members of `column` for an extension type: those of its storage type, and for a tensor also the shape.
void describe_extension(const arrow::ExtensionType& type, TableColumn& column) {
  describe(*type.storage_type(), column);
  if (type.extension_name() != "arrow.fixed_shape_tensor" || !column.unreadable.empty()) return;
  const auto& tensor = static_cast<const arrow::extension::FixedShapeTensorType&>(type);
  const bool is_permuted = !std::is_sorted(tensor.permutation().begin(), tensor.permutation().end());
  if (!is_permuted && column.shape.size() == 1 && values_of_shape(tensor.shape()) == column.shape.front())
    column.shape = tensor.shape();
}

void describe(const arrow::DataType& type, TableColumn& column) {
  if (const auto number = number_types.find(type.id()); number != number_types.end()) {
    column.dtype = number->second;
    return;
  }
  if (auto unit = time_unit_of(type); !unit.empty()) {
    column.dtype = DType::i64;
    column.meaning = std::move(unit);
    return;
  }
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      column.varies = column.is_text = true;
      return;
    case arrow::Type::FIXED_SIZE_BINARY:
      column.shape = {static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width()};
      return;
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      describe_elements(*type.field(0)->type(), column);
      if (!column.shape.empty()) column.unreadable = no_nested;
      column.varies = true;
      return;
    case arrow::Type::FIXED_SIZE_LIST:
      describe_elements(*type.field(0)->type(), column);
      column.shape.insert(column.shape.begin(), static_cast<const arrow::FixedSizeListType&>(type).list_size());
      return;
    case arrow::Type::DICTIONARY:
      return describe(*static_cast<const arrow::DictionaryType&>(type).value_type(), column);
    case arrow::Type::EXTENSION:
      return describe_extension(static_cast<const arrow::ExtensionType&>(type), column);
    case arrow::Type::NA:
      column.unreadable = "the column has no values";
      return;
    default:
      column.unreadable = arrow::is_decimal(type.id()) ? no_decimals : no_nested;
  }
}

}  // namespace

TableColumn describe_column(const arrow::Field& field) {
  TableColumn column{.name = field.name(), .file_type = field.type()->ToString(), .is_nullable = field.nullable()};
  describe(*field.type(), column);
  if (column.unreadable.empty() && !column.shape.empty() && column.shape.front() <= 0)
    column.unreadable = "each sample of the column is an empty list";
  return column;
}

}  // namespace trainrt::data::arrow_module
