#pragma once
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace trainrt::test {

/// Returns a ustar header and its content, both padded to blocks. `size`: a wrong size in bytes to write to the header; -1:
/// the true one.
inline std::string tar_entry(const std::string& name, const std::string& content, char type = '0', long long size = -1,
                             const std::string& prefix = "") {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { std::memcpy(&header[at], text.data(), text.size()); };
  char digits[32];
  put(0, name.substr(0, 100));
  put(100, "0000644");
  std::snprintf(digits, sizeof digits, "%011llo", size < 0 ? static_cast<long long>(content.size()) : size);
  put(124, digits);
  put(136, "00000000000");
  header[156] = type;
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(345, prefix);
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string(digits) + '\0');
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

/// Returns a record of a pax header. Its length includes the digits of the length.
inline std::string pax_record(const std::string& key, const std::string& value) {
  const auto rest = " " + key + "=" + value + "\n";
  auto length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

inline std::string tar_of(const std::vector<std::string>& entries) {
  std::string all;
  for (const auto& entry : entries) all += entry;
  return all + std::string(1024, '\0');
}

}  // namespace trainrt::test
