#pragma once
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace trainrt::cli {

/// Prints `text` on standard output, with control characters escaped (core/text/printable.hpp), because names and texts
/// from files must not control the terminal. Throws std::system_error if standard output cannot be written.
void print_text(std::string_view text);

/// Formats a text and prints it like print_text().
template <class... Arguments>
void print_safely(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  print_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Prints a JSON value, indented, and a newline. Invalid UTF-8 becomes U+FFFD.
void print_json(const nlohmann::ordered_json& value);

}  // namespace trainrt::cli
