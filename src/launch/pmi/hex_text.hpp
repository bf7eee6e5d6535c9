#pragma once
#include <string>
#include <string_view>

namespace trainrt::launch {

// The values that ranks exchange by PMI-1 and PMIx must not contain blanks and zero bytes. These functions convert any
// bytes to hexadecimal digits, and back.

/// Returns two lowercase hexadecimal digits for each byte.
inline std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    text += digits[number >> 4];
    text += digits[number & 15];
  }
  return text;
}

/// Returns the bytes of a text that hex_of() returned. Other characters count as the digit 0.
inline std::string bytes_of_hex(std::string_view text) {
  const auto digit = [](char c) { return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : 0; };
  std::string bytes;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2)
    bytes += static_cast<char>(digit(text[at]) * 16 + digit(text[at + 1]));
  return bytes;
}

}  // namespace trainrt::launch
