#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

// How the values of a State are stored: numbers as i64, f64 or a bool's one byte, texts as they are.

/// "i64", "f64", "bool", "string".
std::string dtype_of(const ValueEntry& entry);
/// The bytes of a value as they are stored.
std::string bytes_of(const ValueEntry& entry);
/// Bytes that a value may take before the plan has to be made anew: strings have room to grow.
std::uint64_t room_of(const ValueEntry& entry);

/// A number from its bytes, which index_from() has held against the dtype.
template <class T>
T number_from(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

}  // namespace trainrt::checkpoint
