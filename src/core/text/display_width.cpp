#include "core/text/display_width.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt {

namespace {

struct CodePoints {
  char32_t first, last;
};

constexpr std::array<CodePoints, 10> without_width = {{{0x300, 0x36F},
                                                       {0x483, 0x489},
                                                       {0x591, 0x5BD},
                                                       {0x610, 0x61A},
                                                       {0x64B, 0x65F},
                                                       {0x1AB0, 0x1AFF},
                                                       {0x200B, 0x200F},
                                                       {0x20D0, 0x20FF},
                                                       {0xFE00, 0xFE0F},
                                                       {0xE0100, 0xE01EF}}};
constexpr std::array<CodePoints, 22> wide = {
    {{0x1100, 0x115F}, {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},  {0x2614, 0x2615}, {0x2648, 0x2653},
     {0x26A1, 0x26A1}, {0x26BD, 0x26BE},   {0x26D4, 0x26D4},   {0x2705, 0x2705},  {0x2728, 0x2728}, {0x274C, 0x274C},
     {0x2753, 0x2757}, {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},
     {0xFF00, 0xFF60}, {0x1F300, 0x1F64F}, {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD}}};

bool is_in(char32_t point, std::span<const CodePoints> ranges) {
  return std::ranges::any_of(ranges,
                             [point](const CodePoints& range) { return point >= range.first && point <= range.last; });
}

std::size_t width_of(char32_t point) { return is_in(point, without_width) ? 0 : is_in(point, wide) ? 2 : 1; }

/// Calls `action(character, width)` for each UTF-8 character of `text` and its width in columns; stops when `action`
/// returns false.
template <class Action>
void for_each_character(std::string_view text, Action&& action) {
  while (!text.empty()) {
    const auto [bytes, point] = first_character(text);
    const auto character = text.substr(0, std::max<std::size_t>(bytes, 1));
    if (!action(character, width_of(point))) return;
    text.remove_prefix(character.size());
  }
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto [bytes, point] = first_character(text);
    if (bytes == 0)
      plain += '?';
    else if (point == '\t' || is_terminal_control(point))  // a tab is replaced, too, since it occupies several columns
      plain += ' ';
    else
      plain += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return plain;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for_each_character(text, [&](std::string_view, std::size_t width) { return columns += width, true; });
  return columns;
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
  std::size_t taken = 0, bytes = 0;
  for_each_character(text, [&](std::string_view character, std::size_t width) {
    taken += width;
    if (taken > columns) return false;
    bytes += character.size();
    return true;
  });
  return std::string(text.substr(0, bytes));
}

std::string padded_to_width(std::string_view text, std::size_t columns) {
  auto cut = cut_to_width(text, columns);
  cut.append(columns - display_width(cut), ' ');
  return cut;
}

std::string ascii_of(std::string_view text) {
  std::string ascii;
  for_each_character(text, [&](std::string_view character, std::size_t width) {
    if (character.size() == 1)
      ascii += character;
    else
      ascii.append(width, '?');
    return true;
  });
  return ascii;
}

}  // namespace trainrt
