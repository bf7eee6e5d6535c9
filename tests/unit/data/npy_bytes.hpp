#pragma once
#include <cstring>
#include <string>
#include <vector>

namespace data_test {

/// Returns a .npy file with this text as its dictionary.
inline std::string npy_bytes(const std::string& dict, const std::string& values, int version = 1) {
  const auto text = dict + "\n";
  std::string bytes = "\x93NUMPY" + std::string{static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes + text + values;
}

template <class T>
std::string values_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace data_test
