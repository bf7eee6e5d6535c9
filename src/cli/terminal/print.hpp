#pragma once
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace trainrt::cli {

/// Prints on standard output, as the terminal may get it (core/text/printable.hpp): what a command prints holds names and
/// texts from files. Throws std::system_error if it cannot be written.
void print_text(std::string_view text);

template <class... Arguments>
void print_safely(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  print_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Prints a JSON value with a line break after it, for programs. Invalid UTF-8 becomes U+FFFD.
void print_json(const nlohmann::ordered_json& value);

}  // namespace trainrt::cli
