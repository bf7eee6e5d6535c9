#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trainrt::data::tokenizer {

/// Takes the first code point off a text of valid UTF-8, which is not empty.
char32_t take_code_point(std::string_view& text);
void append_code_point(std::string& text, char32_t code);

bool is_white(char32_t code);        ///< Unicode's White_Space
bool is_control(char32_t code);      ///< Cc, Cf, Co, but no tab and line breaks
bool is_punctuation(char32_t code);  ///< ASCII's signs, and P*
bool is_numeric(char32_t code);      ///< N*
bool is_chinese(char32_t code);      ///< of the blocks that BERT's tokenizer sets apart

/// Unicode's normal forms; `lowercase`: each code point in lower case instead.
enum class Form : std::uint8_t { nfc, nfd, nfkc, nfkd };
std::string in_form(const std::string& text, Form form);
std::string in_lower_case(const std::string& text);
std::string without_marks(const std::string& text);             ///< M*
std::string without_nonspacing_marks(const std::string& text);  ///< Mn

}  // namespace trainrt::data::tokenizer
