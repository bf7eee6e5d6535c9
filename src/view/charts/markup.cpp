#include "view/charts/markup.hpp"

#include <algorithm>

#include "core/text/text.hpp"

namespace trainrt::view {

namespace {

bool is_plain(std::string_view text) {
  return is_utf8(text) && std::ranges::none_of(text, [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
         });
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char each : text) switch (each) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += each;
    }
  return safe;
}

Markup text(std::string_view text) {
  return Markup(is_plain(text) ? escaped(text) : escaped(join(printable_lines(text), "\n")));
}

Markup element(std::string_view name, const Attributes& attributes, const Markup& content) {
  std::string html = "<" + std::string(name);
  for (const auto& [key, value] : attributes) html += " " + std::string(key) + "=\"" + text(value).str() + "\"";
  return Markup(html + ">" + content.str() + "</" + std::string(name) + ">");
}

Markup element(std::string_view name, const Attributes& attributes, std::string_view content) {
  return element(name, attributes, text(content));
}

std::string script_json(std::string_view ascii_json) {
  std::string safe;
  safe.reserve(ascii_json.size());
  for (const char each : ascii_json) {
    if (each == '<')
      safe += "\\u003c";  // JSON has '<' only in strings, and strings may contain escapes
    else
      safe += each;
  }
  return safe;
}

}  // namespace trainrt::view
