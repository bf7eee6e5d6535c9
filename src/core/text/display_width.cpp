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

/// Bytes of the character that begins with this one.
std::size_t length_of(unsigned char lead) { return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

char32_t point_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  char32_t point = lead & (0x7FU >> character.size());
  for (const char c : character.substr(1)) point = point << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

std::size_t width_of(std::string_view character) {
  const auto point = point_of(character);
  return is_in(point, without_width) ? 0 : is_in(point, wide) ? 2 : 1;
}

template <class Action>
void for_each_character(std::string_view text, Action&& action) {
  for (std::size_t at = 0; at < text.size();) {
    const auto character = text.substr(at, length_of(static_cast<unsigned char>(text[at])));
    if (!action(character)) return;
    at += character.size();
  }
}

/// A tab is none for most outputs, but no single column either.
bool is_control(std::string_view character) { return character == "\t" || is_terminal_control(point_of(character)); }

}  // namespace

std::string plain_text(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto character = text.substr(0, length_of(static_cast<unsigned char>(text[0])));
    const bool whole = is_utf8(character);
    if (!whole)
      plain += '?';
    else
      plain += is_control(character) ? " " : character;
    text.remove_prefix(whole ? character.size() : 1);
  }
  return plain;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for_each_character(text, [&](std::string_view character) { return columns += width_of(character), true; });
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  std::size_t taken = 0, bytes = 0;
  for_each_character(text, [&](std::string_view character) {
    taken += width_of(character);
    if (taken > columns) return false;
    bytes += character.size();
    return true;
  });
  return std::string(text.substr(0, bytes));
}

std::string fitted(std::string_view text, std::size_t columns) {
  auto cut = cut_to(text, columns);
  cut.append(columns - columns_of(cut), ' ');
  return cut;
}

std::string ascii_of(std::string_view text) {
  std::string ascii;
  for_each_character(text, [&](std::string_view character) {
    if (character.size() == 1)
      ascii += character;
    else
      ascii.append(width_of(character), '?');
    return true;
  });
  return ascii;
}

}  // namespace trainrt
