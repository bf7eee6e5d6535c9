#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <trainrt/tensor.hpp>

namespace trainrt::checkpoint {

/// Reads JSON of a known form from its beginning to its end: many short lists of texts and counts, much faster than by way
/// of a document. What is not there as it should be throws Error naming `path`, the byte, and what was to be read.
class JsonCursor {
 public:
  /// Both must outlive the cursor.
  JsonCursor(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  /// Takes this character, blanks before it included; else "lacks WHAT".
  void expect(char c, std::string_view what);
  /// The same for the next key of an object, with its colon.
  void expect_key(std::string_view key);
  /// Takes it if it is next.
  bool take(char c);
  /// Only blanks are left.
  void end();

  std::string text(std::string_view what);
  /// A whole number from 0 to the largest std::int64_t.
  std::uint64_t count(std::string_view what);
  Shape shape(std::string_view what);

  [[noreturn]] void fail(const std::string& why) const;
  /// What errors begin with from now on: "entry 3 of 'tensors' ".
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
