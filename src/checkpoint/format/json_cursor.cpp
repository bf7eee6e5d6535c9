#include "checkpoint/format/json_cursor.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

void JsonCursor::expect(char c, std::string_view what) {
  if (!take(c)) fail(fmt::format("lacks {}", what));
}

void JsonCursor::expect_key(std::string_view key) {
  skip_blanks();
  const auto rest = text_.substr(at_);
  if (!rest.starts_with('"') || !rest.substr(1).starts_with(key) || !rest.substr(1 + key.size()).starts_with('"'))
    fail(fmt::format("lacks '{}'", key));
  at_ += key.size() + 2;
  expect(':', "a colon");
}

bool JsonCursor::take(char c) {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonCursor::end() {
  skip_blanks();
  if (at_ != text_.size()) fail("continues after its end");
}

std::string JsonCursor::text(std::string_view what) {
  const auto bad = [&] { fail(fmt::format("has a {} that is not a string", what)); };
  skip_blanks();
  const auto begin = at_;
  if (!take('"')) bad();
  bool plain = true;  // the string has no escapes and no non-ASCII characters, so that the JSON library is not needed
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    const auto c = static_cast<unsigned char>(text_[at_]);
    plain = plain && c >= ' ' && c < 0x7f && c != '\\';
    if (c == '\\') ++at_;
  }
  if (at_ >= text_.size()) bad();
  const auto token = text_.substr(begin, ++at_ - begin);
  if (plain) return std::string(token.substr(1, token.size() - 2));
  try {
    return nlohmann::json::parse(token).get<std::string>();
  } catch (const nlohmann::json::exception&) {
    bad();
  }
  return "";
}

std::uint64_t JsonCursor::count(std::string_view what) {
  constexpr std::uint64_t max_count = std::numeric_limits<std::int64_t>::max();
  const auto bad = [&] { fail(fmt::format("has a {} that is not an integer from 0 to 2^63 - 1", what)); };
  skip_blanks();
  const auto begin = at_;
  std::uint64_t value = 0;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
    if (value > (max_count - digit) / 10) bad();
    value = value * 10 + digit;
  }
  const bool fraction = at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E');
  const bool leading_zero = at_ - begin > 1 && text_[begin] == '0';
  if (at_ == begin || fraction || leading_zero) bad();
  return value;
}

Shape JsonCursor::shape(std::string_view what) {
  if (!take('[')) fail(fmt::format("has a {} that is not a list", what));
  Shape shape;
  if (take(']')) return shape;
  do shape.push_back(static_cast<std::int64_t>(count(what)));
  while (take(','));
  if (!take(']')) fail(fmt::format("lacks the end of its {}", what));
  return shape;
}

void JsonCursor::fail(const std::string& why) const {
  const auto where = list_.empty() ? std::string("the index") : fmt::format("entry {} of '{}'", number_, list_);
  throw Error(fmt::format("'{}': {} {} (byte {} of its text)", path_, where, why, at_));
}

}  // namespace trainrt::checkpoint
