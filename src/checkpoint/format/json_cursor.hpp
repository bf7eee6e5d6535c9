#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <trainrt/tensor.hpp>

namespace trainrt::checkpoint {

/// Parses JSON text with a structure that is known in advance, from the beginning to the end, without building a document.
/// All functions throw Error naming `path`, the current entry, the byte and the expected item if the text differs. A
/// byte-exact position for every error is the reason not to use simdjson: it checks UTF-8, quotes and control characters of
/// the complete text first and reports no position for them.
class JsonCursor {
 public:
  /// `text` and `path` must outlive the cursor.
  JsonCursor(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  /// Skips blanks and consumes the character `c`. The error is "lacks `what`".
  void expect(char c, std::string_view what);
  /// Consumes the next key of an object and its colon.
  void expect_key(std::string_view key);
  /// Skips blanks and consumes `c` if it is the next character; returns whether it was.
  bool take(char c);
  /// Requires that only blanks remain.
  void end();

  /// Parses a string; `what` names it in errors, here and below.
  std::string text(std::string_view what);
  /// Parses an integer from 0 to the maximum of std::int64_t.
  std::uint64_t count(std::string_view what);
  /// Parses a list of such integers.
  Shape shape(std::string_view what);

  /// Throws Error with the message "'PATH': ENTRY `why` (byte N of its text)".
  [[noreturn]] void fail(const std::string& why) const;
  /// Sets the entry that errors name, "entry 3 of 'tensors'"; an empty `list` means the complete index.
  void at_entry(std::string_view list, std::size_t number) {
    list_ = list;
    number_ = number;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  std::string_view list_;
  std::size_t number_ = 0;
};

}  // namespace trainrt::checkpoint
