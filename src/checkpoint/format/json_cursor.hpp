#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <trainrt/tensor.hpp>

namespace trainrt::checkpoint {

/// Parses the JSON text of a checkpoint's index from the beginning to the end, without building a document. The caller
/// requests each item in order, because the structure is known in advance.
///
/// All functions throw Error if the next item is not the requested one; the message names `path`, the current entry, the
/// byte offset and the expected item.
///
/// simdjson is not used because it reports no offset for errors in UTF-8, quotes and control characters.
class JsonCursor {
 public:
  /// `text`: the JSON text. `path`: the file, for error messages. Both must outlive the JsonCursor.
  JsonCursor(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  /// Skips white space and consumes the character `c`. If the next character is not `c`, the error is "lacks `what`".
  void expect(char c, std::string_view what);
  /// Consumes the object key `key`, in quotes, and the colon after the key.
  void expect_key(std::string_view key);
  /// Skips white space. If the next character is `c`, consumes it and returns true, otherwise returns false.
  bool take(char c);
  /// Throws Error if anything except white space remains in the text.
  void end();

  /// Parses a string. `what` is the name of the item in error messages, as for count() and shape().
  std::string text(std::string_view what);
  /// Parses an integer from 0 to the maximum of std::int64_t.
  std::uint64_t count(std::string_view what);
  /// Parses a list of integers, each from 0 to the maximum of std::int64_t.
  Shape shape(std::string_view what);

  /// Throws Error with the message "'PATH': ENTRY `why` (byte N of its text)".
  [[noreturn]] void fail(const std::string& why) const;
  /// Sets the entry that error messages name: "entry 3 of 'tensors'" if `list` is "tensors" and `number` is 3. If
  /// `list` is empty, error messages name "the index".
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
