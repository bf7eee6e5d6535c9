#include "core/text/percent.hpp"

#include <cctype>

#include <fmt/format.h>

namespace trainrt {

namespace {

/// Returns the value of a hexadecimal digit, or -1.
int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_encoded(std::string_view text, bool keeps_slashes) {
  std::string encoded;
  for (const unsigned char letter : text) {
    const bool is_kept = std::isalnum(letter) != 0 || letter == '-' || letter == '.' || letter == '_' || letter == '~' ||
                         (keeps_slashes && letter == '/');
    if (is_kept)
      encoded += static_cast<char>(letter);
    else
      encoded += fmt::format("%{:02X}", letter);
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    bytes += low >= 0 ? static_cast<char>(high * 16 + low) : text[i];
    if (low >= 0) i += 2;
  }
  return bytes;
}

}  // namespace trainrt
