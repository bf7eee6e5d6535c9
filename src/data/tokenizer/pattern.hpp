#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace trainrt::data::tokenizer {

/// What makes up words in Unicode (Technical Standard 18, Annex C), for the brackets of an expression: all that is
/// alphabetic, marks, decimal digits, connectors. Engines add some of their own.
inline constexpr std::string_view of_words =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";

/// A regular expression out of a tokenizer.json, matched by PCRE2 with Unicode's classes; \w and \s stand for what they do
/// there, and not for PCRE2's own. Any threads may use it.
class Pattern {
 public:
  explicit Pattern(const std::string& expression);  ///< UsageError that says where it is wrong, or not known here
  ~Pattern();
  Pattern(const Pattern&) = delete;

  /// Calls take(piece, is_match) for all parts of the text, in their order; empty ones are left out. Error if matching
  /// takes more steps than a sane expression needs.
  void cut(std::string_view text, const std::function<void(std::string_view piece, bool is_match)>& take) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace trainrt::data::tokenizer
