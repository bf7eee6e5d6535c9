#include <array>

#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

#include "core/text/text.hpp"

namespace trainrt {

namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<DTypeRow, 12> dtypes{{{DType::f64, "f64", 8},
                                           {DType::f32, "f32", 4},
                                           {DType::f16, "f16", 2},
                                           {DType::bf16, "bf16", 2},
                                           {DType::f8e4m3, "f8e4m3", 1},
                                           {DType::f8e5m2, "f8e5m2", 1},
                                           {DType::i64, "i64", 8},
                                           {DType::i32, "i32", 4},
                                           {DType::i16, "i16", 2},
                                           {DType::i8, "i8", 1},
                                           {DType::u8, "u8", 1},
                                           {DType::boolean, "bool", 1}}};

const DTypeRow& row_of(DType dtype) {
  for (const auto& row : dtypes)
    if (row.dtype == dtype) return row;
  throw Error("a tensor has an unknown dtype (value " + std::to_string(static_cast<int>(dtype)) + ")");
}

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).bytes; }
std::string_view name_of(DType dtype) { return row_of(dtype).name; }

DType dtype_from(std::string_view name) {
  std::vector<std::string> valid;
  for (const auto& row : dtypes) {
    if (row.name == name) return row.dtype;
    valid.emplace_back(row.name);
  }
  throw UsageError("unknown dtype '" + std::string(name) + "'; valid types: " + join(valid));
}

std::string_view name_of(Device device) { return device == Device::cuda ? "cuda" : "host"; }

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

std::string to_string(const Shape& shape) {
  std::vector<std::string> parts;
  for (const auto extent : shape) parts.push_back(std::to_string(extent));
  return "[" + join(parts) + "]";
}

std::string_view name_of(Op op) {
  constexpr std::string_view names[] = {"sum", "mean", "min", "max"};
  return names[static_cast<std::size_t>(op)];
}

}  // namespace trainrt
