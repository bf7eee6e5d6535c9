#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::data {

/// Parses the text of a key: "WORD WORD name=value switch".
class KeyWords {
 public:
  /// `form` is the valid form of the text. The UsageErrors of the other functions contain it.
  KeyWords(std::string_view text, std::string_view form);
  /// Removes and returns the first word without '='. Throws UsageError if no word is left.
  std::string take();
  /// Removes and returns the first word without '=', as an integer of at least `min`. Throws UsageError for any other
  /// word.
  std::uint64_t take_number(std::uint64_t min);
  /// Removes name=value and returns the value, or nothing if the text has no such item.
  std::optional<std::string> value(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name);
  /// Removes the word `word`. Returns whether the text contained it.
  bool has(std::string_view word);
  /// Throws UsageError if a word is left. The message quotes the first one.
  void end() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::string form_;
  std::vector<std::string> words_;
};

}  // namespace trainrt::data
