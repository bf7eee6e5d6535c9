#include "data/arrays/npy_dict.hpp"

#include <charconv>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

class NpyDictParser {
 public:
  NpyDictParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  NpyDict parse() {
    expect('{');
    while (!accepts('}')) {
      const auto key = quoted();
      if (!seen_.insert(key).second) bad("the key '" + excerpt(key, 40) + "' stands there twice");
      expect(':');
      value_of(key);
      if (dict_.is_structured) return dict_;
      if (accepts('}')) break;
      expect(',');
    }
    skip_blanks();
    if (at_ != text_.size()) bad("there is more behind its }");
    for (const auto* key : {"descr", "fortran_order", "shape"})
      if (!seen_.contains(key)) bad(std::string("the key '") + key + "' is missing");
    return dict_;
  }

 private:
  [[noreturn]] void bad(const std::string& why) const {
    throw UsageError(what_ + ": its header is no dictionary of descr, fortran_order and shape: " + why + ", in " +
                     printable_lines(excerpt(trim(text_), 120)).front());
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accepts(char wanted) {
    skip_blanks();
    const bool is_there = at_ < text_.size() && text_[at_] == wanted;
    if (is_there) ++at_;
    return is_there;
  }

  void expect(char wanted) {
    if (!accepts(wanted)) bad(fmt::format("there is no {} at byte {}", wanted, at_));
  }

  bool accepts_word(std::string_view word) {
    skip_blanks();
    const bool is_there = text_.substr(at_).starts_with(word);
    if (is_there) at_ += word.size();
    return is_there;
  }

  /// No value that is valid has escapes in it.
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') bad(fmt::format("there is no text in quotes at byte {}", at_));
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad(fmt::format("the text at byte {} does not end", at_));
    const auto text = text_.substr(at_ + 1, end - at_ - 1);
    if (text.find('\\') != std::string_view::npos) bad(fmt::format("the text at byte {} has an escape", at_));
    at_ = end + 1;
    return std::string(text);
  }

  void value_of(const std::string& key) {
    if (key == "descr") {
      dict_.is_structured = accepts('[') || accepts('(');
      if (!dict_.is_structured) dict_.descr = quoted();
    } else if (key == "fortran_order") {
      dict_.fortran_order = accepts_word("True");
      if (!dict_.fortran_order && !accepts_word("False")) bad("fortran_order is neither True nor False");
    } else if (key == "shape") {
      dict_.shape = tuple();
    } else {
      bad("it has the key '" + excerpt(key, 40) + "'");
    }
  }

  /// "()", "(3,)", "(3, 4)", "(3, 4,)"; "(3L,)" was written by Python 2.
  Shape tuple() {
    constexpr std::size_t most = 64;  // dimensions, of NumPy 2
    Shape shape;
    expect('(');
    while (!accepts(')')) {
      if (shape.size() == most) bad("it has more than 64 dimensions");
      shape.push_back(extent());
      if (accepts(',')) continue;
      expect(')');
      if (shape.size() == 1) bad("the shape is a number in brackets, and no tuple");
      break;
    }
    return shape;
  }

  std::int64_t extent() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) bad(fmt::format("there is no extent of a shape at byte {}", at_));
    at_ = static_cast<std::size_t>(end - text_.data());
    accepts_word("L");
    return value;
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
  std::set<std::string> seen_;
  NpyDict dict_;
};

}  // namespace

NpyDict parse_npy_dict(std::string_view text, const std::string& what) { return NpyDictParser(text, what).parse(); }

}  // namespace trainrt::data
