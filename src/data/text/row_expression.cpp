#include "data/text/row_expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/text/number_text.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t max_expression_bytes = 64 << 10;
constexpr int max_expression_depth = 100;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool is_in_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '/';
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  RowExpression parse() {
    if (text_.size() > max_expression_bytes)
      throw UsageError(
          fmt::format("the expression has {} bytes; at most {} are allowed", text_.size(), max_expression_bytes));
    auto made = condition();
    if (!is_at_end()) fail("expected 'and', 'or' or the end of the expression");
    return made;
  }

 private:
  using Kind = RowExpression::Kind;
  using Comparison = RowExpression::Comparison;

  static RowExpression joined(Kind kind, RowExpression first, RowExpression second) {
    RowExpression made;
    made.kind = kind;
    made.first = std::make_unique<RowExpression>(std::move(first));
    made.second = std::make_unique<RowExpression>(std::move(second));
    return made;
  }

  RowExpression condition() {
    auto made = both();
    while (takes_word("or")) made = chained(Kind::either, std::move(made), both());
    return made;
  }

  RowExpression both() {
    auto made = one();
    while (takes_word("and")) made = chained(Kind::both, std::move(made), one());
    return made;
  }

  /// Limits the depth of the tree, because the tree is visited recursively. A chain of conditions becomes a tree that
  /// is as deep as the chain is long.
  RowExpression chained(Kind kind, RowExpression first, RowExpression second) {
    constexpr int max_chained = 1000;
    if (++chained_ > max_chained) fail(fmt::format("more than {} conditions", max_chained));
    return joined(kind, std::move(first), std::move(second));
  }

  RowExpression one() {
    const Deeper deeper(*this);
    if (takes_word("not")) {
      RowExpression made;
      made.kind = Kind::negation;
      made.first = std::make_unique<RowExpression>(one());
      return made;
    }
    if (!takes("(")) return comparison();
    auto made = condition();
    if (!takes(")")) fail("')' is expected");
    return made;
  }

  RowExpression comparison() {
    RowExpression made;
    made.left = operand();
    constexpr std::array<std::pair<std::string_view, Comparison>, 6> signs{{{"==", Comparison::equal},
                                                                            {"!=", Comparison::unequal},
                                                                            {"<=", Comparison::less_or_equal},
                                                                            {">=", Comparison::greater_or_equal},
                                                                            {"<", Comparison::less},
                                                                            {">", Comparison::greater}}};
    for (const auto& [sign, comparison] : signs) {
      if (!takes(sign)) continue;
      made.kind = Kind::comparison;
      made.comparison = comparison;
      made.right = operand();
      return made;
    }
    if (made.left.kind != RowOperand::Kind::field) fail("expected one of == != < <= > >=");
    if (!is_at_end() && text_[at_] == '=') fail("use == to compare");
    return made;
  }

  RowOperand operand() {
    if (is_at_end()) fail("expected a field, a number or a text in quotes");
    const char c = text_[at_];
    RowOperand made;
    made.at = at_;
    if (c == '"' || c == '\'') {
      made.kind = RowOperand::Kind::text;
      made.text = quoted(c, true);
    } else if (c == '`') {
      made.kind = RowOperand::Kind::field;
      made.text = quoted(c, false);
    } else if (begins_name(c)) {
      made.kind = RowOperand::Kind::field;
      while (at_ < text_.size() && is_in_name(text_[at_])) made.text += text_[at_++];
      if (made.text == "and" || made.text == "or" || made.text == "not")
        fail_at(made.at, fmt::format("'{}' is not a field; expected a field, a number or a text in quotes", made.text));
    } else {
      take_number(made);
    }
    if (made.kind == RowOperand::Kind::field && takes("[")) made.element = element();
    return made;
  }

  void take_number(RowOperand& made) {
    const auto begin = at_;
    const auto may_follow = [&](char c) {
      const bool is_exponent = at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ||
             ((c == '-' || c == '+') && (at_ == begin || is_exponent));
    };
    while (at_ < text_.size() && may_follow(text_[at_])) ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    const auto whole = integer_in(word);
    const auto real = whole ? std::nullopt : real_in(word);
    if (word.empty() || (!whole && !real)) fail_at(begin, "expected a field, a number or a text in quotes");
    made.kind = whole ? RowOperand::Kind::whole : RowOperand::Kind::real;
    made.whole = whole.value_or(0);
    made.real = real.value_or(0);
  }

  std::uint64_t element() {
    skip_blanks();
    RowOperand number;
    const auto begin = at_;
    if (at_ < text_.size()) take_number(number);
    if (begin == at_ || number.kind != RowOperand::Kind::whole || number.whole < 0)
      fail_at(begin, "expected an index, an integer from 0");
    if (!takes("]")) fail("']' is expected");
    return static_cast<std::uint64_t>(number.whole);
  }

  std::string quoted(char quote, bool escapes) {
    const auto begin = at_++;
    std::string made;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (escapes && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      made += text_[at_];
    }
    if (at_ == text_.size()) fail_at(begin, fmt::format("a quote ({}) is not closed", quote));
    ++at_;
    return made;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  bool takes(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    skip_blanks();
    return true;
  }
  bool takes_word(std::string_view word) {
    skip_blanks();
    const auto end = at_ + word.size();
    if (!text_.substr(at_).starts_with(word) || (end < text_.size() && is_in_name(text_[end]))) return false;
    at_ = end;
    skip_blanks();
    return true;
  }

  [[noreturn]] void fail(std::string_view why) { fail_at(at_, why); }
  [[noreturn]] void fail_at(std::size_t at, std::string_view why) { throw UsageError(at_character(text_, at, why)); }

  class Deeper {
   public:
    explicit Deeper(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > max_expression_depth)
        parser_.fail(fmt::format("nested more than {} deep", max_expression_depth));
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;

   private:
    ExpressionParser& parser_;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0, chained_ = 0;
};

}  // namespace

RowExpression parse_row_expression(std::string_view text) { return ExpressionParser(text).parse(); }

std::string at_character(std::string_view text, std::size_t at, std::string_view why) {
  const auto rest = text.substr(std::min(at, text.size()));
  const auto shown = join(printable_lines(excerpt(rest, 40)), " ");
  return fmt::format("at character {} ({}): {}", at + 1, rest.empty() ? "the end" : fmt::format("'{}'", shown), why);
}

}  // namespace trainrt::data
