#include "core/spreadsheet.hpp"

#include <algorithm>

#include "core/options.hpp"

namespace trainrt {

namespace {

bool begins_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

std::string_view without_apostrophes(std::string_view text) {
  return text.substr(std::min(text.size(), text.find_first_not_of('\'')));
}

}  // namespace

std::string guarded_cell(std::string_view text) {
  const bool is_guarded = begins_formula(without_apostrophes(text)) && !parse_real(text);
  return (is_guarded ? "'" : "") + std::string(text);
}

std::string unguarded_cell(std::string_view cell) {
  const bool is_guarded = cell.starts_with('\'') && begins_formula(without_apostrophes(cell));
  return std::string(cell.substr(is_guarded ? 1 : 0));
}

}  // namespace trainrt
