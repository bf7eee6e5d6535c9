#include "data/tokenizer/unicode.hpp"

#include <cstdlib>
#include <new>

#include <utf8proc.h>

namespace trainrt::data::tokenizer {

namespace {

utf8proc_category_t category_of(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

template <class IsLeftOut>
std::string without(const std::string& text, const IsLeftOut& is_left_out) {
  std::string out;
  out.reserve(text.size());
  for (std::string_view left = text; !left.empty();)
    if (const auto code = take_code_point(left); !is_left_out(category_of(code))) append_code_point(out, code);
  return out;
}

struct ChineseBlock {
  char32_t first, last;
};
constexpr ChineseBlock chinese_blocks[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                           {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};

}  // namespace

char32_t take_code_point(std::string_view& text) {
  utf8proc_int32_t code = 0;
  const auto taken = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (taken <= 0) {
    text.remove_prefix(1);
    return 0xFFFD;
  }
  text.remove_prefix(static_cast<std::size_t>(taken));
  return static_cast<char32_t>(code);
}

void append_code_point(std::string& text, char32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

bool is_white(char32_t code) {
  if (code >= 9 && code <= 13) return true;
  if (code == 0x85) return true;
  const auto category = category_of(code);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_control(char32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  const auto category = category_of(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool is_punctuation(char32_t code) {
  if (code < 0x80)
    return (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) ||
           (code >= 123 && code <= 126);
  const auto category = category_of(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_numeric(char32_t code) {
  const auto category = category_of(code);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool is_chinese(char32_t code) {
  for (const auto& block : chinese_blocks)
    if (code >= block.first && code <= block.last) return true;
  return false;
}

std::string in_form(const std::string& text, Form form) {
  int options = UTF8PROC_STABLE;
  if (form == Form::nfc || form == Form::nfkc) options |= UTF8PROC_COMPOSE;
  if (form == Form::nfd || form == Form::nfkd) options |= UTF8PROC_DECOMPOSE;
  if (form == Form::nfkc || form == Form::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const auto bytes =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(options));
  if (bytes < 0) throw std::bad_alloc();  // the text is valid: nothing else can fail
  std::string out(reinterpret_cast<const char*>(made), static_cast<std::size_t>(bytes));
  std::free(made);
  return out;
}

std::string in_lower_case(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::string_view left = text; !left.empty();) {
    const auto code = take_code_point(left);
    if (code == 0x130)
      out += "i\xCC\x87";  // the one letter whose lower case is two code points (Unicode's SpecialCasing)
    else
      append_code_point(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
  return out;
}

std::string without_marks(const std::string& text) {
  return without(text, [](auto category) { return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME; });
}

std::string without_nonspacing_marks(const std::string& text) {
  return without(text, [](auto category) { return category == UTF8PROC_CATEGORY_MN; });
}

}  // namespace trainrt::data::tokenizer
