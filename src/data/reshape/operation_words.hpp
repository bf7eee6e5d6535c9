#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::data {

/// The text of an operation's key: "WORD WORD name=value switch".
class OperationWords {
 public:
  /// `form`: for the UsageErrors, how it should be.
  OperationWords(std::string_view text, std::string_view form);
  /// The next word that stands by itself. UsageError if there is none.
  std::string take();
  std::uint64_t take_number(std::uint64_t least);
  /// The value of name=value, if it is there.
  std::optional<std::string> value(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name);
  /// Whether the word is there.
  bool has(std::string_view word);
  /// UsageError that quotes what nobody has taken.
  void end() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  std::string form_;
  std::vector<std::string> words_;
};

}  // namespace trainrt::data
