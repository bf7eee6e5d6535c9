#include "core/text/printable.hpp"

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt {

bool is_terminal_control(char32_t point) {
  return (point < 0x20 && point != '\t') || (point >= 0x7F && point < 0xA0) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

std::string printable_text(std::string_view text) {
  auto printable = join(printable_lines(text), "\n");
  if (text.ends_with('\n')) printable += '\n';
  return printable;
}

std::string printable_line(std::string_view text) { return join(printable_lines(text), "\\n"); }

std::string printable_json(std::string_view json) {
  std::string printable;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const auto byte = [&](std::size_t further) {
      return at + further < json.size() ? static_cast<unsigned char>(json[at + further]) : 0U;
    };
    if (byte(0) == 0x7F) {
      printable += "\\u007f";
    } else if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) {
      printable += fmt::format("\\u00{:02x}", byte(1));
      at += 1;
    } else if (byte(0) == 0xE2 && (byte(1) == 0x80 || byte(1) == 0x81) &&
               is_terminal_control(0x2000 + ((byte(1) & 0x3FU) << 6) + (byte(2) & 0x3FU))) {
      printable += fmt::format("\\u{:04x}", 0x2000 + ((byte(1) & 0x3FU) << 6) + (byte(2) & 0x3FU));
      at += 2;
    } else {
      printable += json[at];
    }
  }
  return printable;
}

}  // namespace trainrt
