#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

// Values of a State are stored as i64, f64, one byte for a bool, or the bytes of a string. A 32-bit integer is stored as
// i64.

/// Returns the type that a value is stored as: "i64", "f64", "bool" or "string".
std::string dtype_of(const ValueEntry& entry);
/// Returns the stored bytes of a value.
std::string bytes_of(const ValueEntry& entry);
/// Returns the bytes reserved for a value in a shard file. A string can grow up to that size before the ranks must compute
/// a new plan.
std::uint64_t room_of(const ValueEntry& entry);

/// Returns the number with these bytes. index_from() has already checked their count against the dtype.
template <class T>
T number_from(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

}  // namespace trainrt::checkpoint
