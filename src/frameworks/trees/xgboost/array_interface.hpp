#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <trainrt/tensor.hpp>

namespace trainrt::frameworks::trees {

/// Returns the JSON by which XGBoost accesses an array in memory: NumPy's array interface, version 3. The array must be
/// contiguous, row-major and little-endian. `type`: "f4", "i8".
inline std::string array_interface(const void* values, std::string_view type, std::initializer_list<std::size_t> shape) {
  static const double nothing = 0;  // the address of an empty array
  return fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"<{}","version":3}})",
                     reinterpret_cast<std::uintptr_t>(values != nullptr ? values : &nothing), fmt::join(shape, ","), type);
}

}  // namespace trainrt::frameworks::trees
