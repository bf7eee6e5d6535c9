#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <trainrt/tensor.hpp>

namespace trainrt::frameworks::trees {

/// How XGBoost is told of an array in memory (NumPy's array interface, version 3): contiguous, row-major, little-endian.
/// `type`: "f4", "i8"
inline std::string array_interface(const void* values, std::string_view type, std::initializer_list<std::size_t> shape) {
  static const double nothing = 0;  // what an empty array points to
  return fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"<{}","version":3}})",
                     reinterpret_cast<std::uintptr_t>(values != nullptr ? values : &nothing), fmt::join(shape, ","), type);
}

}  // namespace trainrt::frameworks::trees
