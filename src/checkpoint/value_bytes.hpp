#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

// Storage format of the values of a State: i64, f64, one byte for a bool, or the bytes of a string. 32-bit integers are
// stored as i64.

/// Returns the dtype of a State's value in a checkpoint: "i64", "f64", "bool" or "string".
std::string dtype_of(const ValueEntry& entry);
/// Returns the bytes of a State's value as they are stored in a checkpoint.
std::string bytes_of(const ValueEntry& entry);
/// Returns the number of bytes reserved for a State's value in a shard file. A string that grows beyond that size requires
/// a new layout of the file.
std::uint64_t room_of(const ValueEntry& entry);

/// Converts the stored bytes of a value to a number of type T. index_from() has already checked the number of bytes against
/// the dtype.
template <class T>
T number_from(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

}  // namespace trainrt::checkpoint
