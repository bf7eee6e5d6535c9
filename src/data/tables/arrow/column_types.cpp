#include <algorithm>

#include <arrow/extension/fixed_shape_tensor.h>

#include "data/tables/arrow/column_values.hpp"

namespace trainrt::data::arrow_module {

namespace {

constexpr const char* no_nested = "nested values are not supported: write their parts as columns of their own";
constexpr const char* no_decimals = "decimals are not supported: write the column as float64, or as whole numbers";

std::string unit_of(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return "seconds";
    case arrow::TimeUnit::MILLI:
      return "milliseconds";
    case arrow::TimeUnit::MICRO:
      return "microseconds";
    case arrow::TimeUnit::NANO:
      break;
  }
  return "nanoseconds";
}

void set_time(TableColumn& column, const std::string& meaning) {
  column.dtype = DType::i64;
  column.meaning = meaning;
}

void describe(const arrow::DataType& type, TableColumn& column);

/// Of a list, or of a vector: `values` are what it is made of.
void describe_items(const arrow::DataType& values, TableColumn& column) {
  describe(values, column);
  if (column.varies || column.is_text || !column.meaning.empty()) column.refused = no_nested;
}

/// Single numbers; false if they are none.
bool describe_number(const arrow::DataType& type, TableColumn& column) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return column.dtype = DType::boolean, true;
    case arrow::Type::INT8:
      return column.dtype = DType::i8, true;
    case arrow::Type::INT16:
      return column.dtype = DType::i16, true;
    case arrow::Type::INT32:
    case arrow::Type::UINT16:
      return column.dtype = DType::i32, true;
    case arrow::Type::INT64:
    case arrow::Type::UINT32:
    case arrow::Type::UINT64:
      return column.dtype = DType::i64, true;
    case arrow::Type::UINT8:
      return column.dtype = DType::u8, true;
    case arrow::Type::HALF_FLOAT:
      return column.dtype = DType::f16, true;
    case arrow::Type::FLOAT:
      return column.dtype = DType::f32, true;
    case arrow::Type::DOUBLE:
      return column.dtype = DType::f64, true;
    default:
      return false;
  }
}

/// Moments and spans of time; false if they are none.
bool describe_time(const arrow::DataType& type, TableColumn& column) {
  switch (type.id()) {
    case arrow::Type::DATE32:
      return set_time(column, "days since 1970-01-01"), true;
    case arrow::Type::DATE64:
      return set_time(column, "milliseconds since 1970-01-01"), true;
    case arrow::Type::TIMESTAMP:
      return set_time(column, unit_of(static_cast<const arrow::TimestampType&>(type).unit()) + " since 1970-01-01"), true;
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return set_time(column, unit_of(static_cast<const arrow::TimeType&>(type).unit()) + " since midnight"), true;
    case arrow::Type::DURATION:
      return set_time(column, unit_of(static_cast<const arrow::DurationType&>(type).unit())), true;
    default:
      return false;
  }
}

/// What it is stored as; tensors have their axes.
void describe_extension(const arrow::ExtensionType& type, TableColumn& column) {
  describe(*type.storage_type(), column);
  if (type.extension_name() != "arrow.fixed_shape_tensor" || !column.refused.empty()) return;
  const auto& tensor = static_cast<const arrow::extension::FixedShapeTensorType&>(type);
  const auto permuted = [&] { return !std::is_sorted(tensor.permutation().begin(), tensor.permutation().end()); };
  if (permuted() || column.shape.size() != 1 || values_of_shape(tensor.shape()) != column.shape.front()) return;
  column.shape = tensor.shape();
}

void describe(const arrow::DataType& type, TableColumn& column) {
  if (describe_number(type, column) || describe_time(type, column)) return;
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      column.dtype = DType::u8;
      column.varies = column.is_text = true;
      return;
    case arrow::Type::FIXED_SIZE_BINARY:
      column.shape = {static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width()};
      return;
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      describe_items(*type.field(0)->type(), column);
      if (!column.shape.empty()) column.refused = no_nested;
      column.varies = true;
      return;
    case arrow::Type::FIXED_SIZE_LIST:
      describe_items(*type.field(0)->type(), column);
      column.shape.insert(column.shape.begin(), static_cast<const arrow::FixedSizeListType&>(type).list_size());
      return;
    case arrow::Type::DICTIONARY:
      return describe(*static_cast<const arrow::DictionaryType&>(type).value_type(), column);
    case arrow::Type::EXTENSION:
      return describe_extension(static_cast<const arrow::ExtensionType&>(type), column);
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      column.refused = no_decimals;
      return;
    case arrow::Type::NA:
      column.refused = "it has no values";
      return;
    default:
      column.refused = no_nested;
  }
}

}  // namespace

TableColumn described(const arrow::Field& field) {
  TableColumn column{.name = field.name(), .kind = field.type()->ToString(), .may_lack = field.nullable()};
  describe(*field.type(), column);
  if (column.refused.empty() && !column.shape.empty() && column.shape.front() <= 0)
    column.refused = "its samples are empty";
  return column;
}

}  // namespace trainrt::data::arrow_module
