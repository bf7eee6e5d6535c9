#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/tokenizer/normalizer.hpp"

namespace trainrt::data::tokenizer {

/// Tokens that stand in a text as they are ("<|endoftext|>"), and are found before it is split; before it is normalized, or
/// behind that, each in its kind of text.
class AddedTokens {
 public:
  enum class In : std::uint8_t { raw_text, normalized_text };
  /// Those of the "added_tokens" of a tokenizer.json that are looked for in such a text. `normalizer`: nullptr if there is
  /// none.
  AddedTokens(const nlohmann::json& list, In in, const Normalizer* normalizer);

  /// Calls text() for what lies between them, and token() for each, in the order of the text. Of several that begin at one
  /// place the longest is taken.
  void cut(std::string_view whole, const std::function<void(std::string_view part, bool is_first)>& text,
           const std::function<void(std::int32_t token)>& token) const;
  std::int32_t find(std::string_view name) const;  ///< < 0 if it is none of them

 private:
  struct Token {
    std::string name;
    std::string content;  ///< of the text that it is looked for in
    std::int32_t number = 0;
    bool takes_white_before = false, takes_white_after = false;
  };
  const Token* at(std::string_view text) const;

  std::vector<Token> tokens_;  ///< the longest first
  std::vector<bool> begins_ = std::vector<bool>(256);
};

}  // namespace trainrt::data::tokenizer
