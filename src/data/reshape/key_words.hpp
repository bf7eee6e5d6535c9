#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::data {

/// Takes apart the text of a key: "WORD WORD name=value switch".
class KeyWords {
 public:
  /// `form`: valid form of the text, for the UsageErrors of the other functions.
  KeyWords(std::string_view text, std::string_view form);
  /// Removes and returns the first word without '='. Throws UsageError if no word is left.
  std::string take();
  /// The same for an integer, which must be at least `min`.
  std::uint64_t take_number(std::uint64_t min);
  /// Removes name=value and returns the value; nothing if it is missing.
  std::optional<std::string> value(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name);
  /// Removes the word; returns whether it existed.
  bool has(std::string_view word);
  /// Throws UsageError that quotes the first word that is left.
  void end() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::string form_;
  std::vector<std::string> words_;
};

}  // namespace trainrt::data
